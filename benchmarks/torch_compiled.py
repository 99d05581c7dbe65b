"""`torch.compile` of the whole step: forward and backward pass, clipping and update in one compiled function."""

from itertools import chain

import torch
from peer import Peer
from torch.nn.functional import linear


def _loss(trained, frozen, x, y):
    for (A, b), (C, c) in zip(frozen, trained, strict=True):
        x = linear(torch.relu(linear(x, A, b)), C, c)
    return torch.mean((x - y) ** 2)


def _step(trained, frozen, x, y, lr, clip):
    gradient, loss = torch.func.grad_and_value(_loss)(trained, frozen, x, y)
    norm = torch.sqrt(sum((torch.sum(g * g) for g in chain(*gradient)), torch.zeros(())))
    scale = torch.clamp(clip / norm, max=1.0)
    for weight, g in zip(chain(*trained), chain(*gradient), strict=True):
        weight -= lr * scale * g
    return loss


class TorchCompiled(Peer):
    """PyTorch, the step compiled in its default mode. The gradient is `torch.func`'s: `backward()` leaves the graph."""

    def __init__(self, setting):
        super().__init__(setting)
        self.inputs, self.targets = torch.tensor(self.x), torch.tensor(self.y)
        self.moving, self.fixed = (
            [tuple(torch.tensor(v) for v in pair) for pair in pairs] for pairs in (self.trained, self.frozen)
        )
        self.step = torch.compile(_step)

    def run(self, epochs):
        lr, clip, total = self.setting.optimiser.lr, self.setting.optimiser.clip, 0.0
        for rows in torch.tensor(self.rows(epochs)):
            total += self.step(self.moving, self.fixed, self.inputs[rows], self.targets[rows], lr, clip).item()

    def weights(self):
        return [v.numpy() for v in chain(*self.moving)]
