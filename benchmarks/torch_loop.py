"""The valleys protocol as a researcher writes it in PyTorch: eager, one thread, one optimiser step
per batch.
"""

try:
    import torch
except ImportError:
    raise SystemExit("This compares with PyTorch, which is not installed: pip install torch==2.13.0.") from None

torch.set_num_threads(1)


class Block(torch.nn.Module):
    def __init__(self, n, width, out):
        super().__init__()
        self.wide, self.narrow = torch.nn.Linear(n, width), torch.nn.Linear(width, out)
        self.wide.requires_grad_(False)

    def forward(self, x):
        return self.narrow(torch.relu(self.wide(x)))


def torch_epoch(setting):
    """A function that trains one epoch of the setting's task, net and batch."""
    dims, data = setting.net.dims(1, 1), setting.data()
    blocks = [Block(dims[j], width, dims[j + 1]) for j, width in enumerate(setting.net.widths)]
    net = torch.nn.Sequential(*blocks)
    x, y = (torch.tensor(v, dtype=torch.float32) for v in (data.x, data.y))
    trained = [p for p in net.parameters() if p.requires_grad]
    optimiser, loss_of = torch.optim.SGD(trained, lr=setting.optimiser.lr), torch.nn.MSELoss()

    def epoch():
        order, total = torch.randperm(len(x)), 0.0
        for start in range(0, len(x), setting.batch):
            rows = order[start : start + setting.batch]
            optimiser.zero_grad()
            loss = loss_of(net(x[rows]), y[rows])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, setting.optimiser.clip)
            optimiser.step()
            total += loss.item()
        return total

    return epoch
