"""PyTorch without autograd: the gradient written out, every array made once, one update of all weights.

The weights are parts of one long vector, and so are the gradients: then norm and update are one call each.
"""

from itertools import chain

import torch
from peer import Peer


def _parts(vector, pairs):
    """The pieces of a vector in the shapes of these arrays."""
    ends, sizes = [], [v.size for v in chain(*pairs)]
    pieces = torch.split(vector, sizes)
    for i, (C, c) in enumerate(pairs):
        ends.append((pieces[2 * i].view(C.shape), pieces[2 * i + 1].view(c.shape)))
    return ends


class TorchByHand(Peer):
    """PyTorch's products with a backward pass by hand."""

    def __init__(self, setting):
        super().__init__(setting)
        bs, dims = self.batch, [A.shape[1] for A, _ in self.frozen] + [self.y.shape[1]]
        self.inputs, self.targets = torch.tensor(self.x), torch.tensor(self.y)
        self.fixed = [tuple(torch.tensor(v) for v in pair) for pair in self.frozen]
        self.vector = torch.cat([torch.tensor(v).flatten() for v in chain(*self.trained)])
        self.slope = torch.empty_like(self.vector)
        self.moving, self.slopes = _parts(self.vector, self.trained), _parts(self.slope, self.trained)
        self.h, self.g = ([torch.empty(bs, n) for n in dims] for _ in range(2))
        self.z, self.d = ([torch.empty(bs, len(A)) for A, _ in self.frozen] for _ in range(2))

    def forward(self):
        for j, ((A, b), (C, c)) in enumerate(zip(self.fixed, self.moving, strict=True)):
            torch.addmm(b, self.h[j], A.T, out=self.z[j]).relu_()
            torch.addmm(c, self.z[j], C.T, out=self.h[j + 1])

    def backward(self):
        for j in reversed(range(len(self.fixed))):
            (A, _), (C, _), (dC, dc), g = self.fixed[j], self.moving[j], self.slopes[j], self.g[j + 1]
            torch.mm(g.T, self.z[j], out=dC)
            torch.sum(g, 0, out=dc)
            if j > 0:
                torch.mm(g, C, out=self.d[j])
                torch.ops.aten.threshold_backward(self.d[j], self.z[j], 0, grad_input=self.d[j])
                torch.mm(self.d[j], A, out=self.g[j])

    @torch.inference_mode()
    def run(self, epochs):
        lr, clip, total = self.setting.optimiser.lr, self.setting.optimiser.clip, 0.0
        for rows in torch.tensor(self.rows(epochs)):
            torch.index_select(self.inputs, 0, rows, out=self.h[0])
            self.forward()
            error = torch.sub(self.h[-1], self.targets[rows], out=self.g[-1])
            total += torch.dot(error.view(-1), error.view(-1)).item() / self.batch
            error.mul_(2 / self.batch)
            self.backward()
            norm = torch.linalg.vector_norm(self.slope).item()
            self.vector.add_(self.slope, alpha=-lr * min(1.0, clip / norm))

    def weights(self):
        return [v.numpy() for v in chain(*self.moving)]
