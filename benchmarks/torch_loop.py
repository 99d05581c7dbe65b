"""The valleys protocol as a researcher writes it in PyTorch: eager, one thread, one optimiser step
per batch.
"""

from itertools import chain

from peer import Peer

try:
    import torch
except ImportError:
    raise SystemExit("This compares with PyTorch, which is not installed: pip install torch==2.13.0.") from None

torch.set_num_threads(1)


class Block(torch.nn.Module):
    def __init__(self, frozen, trained):
        super().__init__()
        (A, b), (C, c) = ((torch.nn.Parameter(torch.tensor(v)) for v in pair) for pair in (frozen, trained))
        self.wide, self.narrow = torch.nn.Linear(A.shape[1], len(A)), torch.nn.Linear(C.shape[1], len(C))
        self.wide.weight, self.wide.bias, self.narrow.weight, self.narrow.bias = A, b, C, c
        self.wide.requires_grad_(False)

    def forward(self, x):
        return self.narrow(torch.relu(self.wide(x)))


class TorchLoop(Peer):
    """PyTorch, eager: `zero_grad`, `backward`, `clip_grad_norm_`, `step`."""

    def __init__(self, setting):
        super().__init__(setting)
        pairs = zip(self.frozen, self.trained, strict=True)
        self.blocks = [Block(*pair) for pair in pairs]
        self.net = torch.nn.Sequential(*self.blocks)
        self.moving = [p for p in self.net.parameters() if p.requires_grad]
        self.optimiser = torch.optim.SGD(self.moving, lr=setting.optimiser.lr)
        self.inputs, self.targets = torch.tensor(self.x), torch.tensor(self.y)

    def run(self, epochs):
        loss_of, total = torch.nn.MSELoss(), 0.0
        for rows in torch.tensor(self.rows(epochs)):
            self.optimiser.zero_grad()
            loss = loss_of(self.net(self.inputs[rows]), self.targets[rows])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.moving, self.setting.optimiser.clip)
            self.optimiser.step()
            total += loss.item()

    def weights(self):
        pairs = ((block.narrow.weight, block.narrow.bias) for block in self.blocks)
        return [v.detach().numpy() for v in chain(*pairs)]
