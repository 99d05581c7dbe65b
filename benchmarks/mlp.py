"""Deep ReLU nets trained in minibatches: our loop against a plain JAX scan and a plain PyTorch loop.

    python benchmarks/mlp.py [--width 100 1000] [--rounds 7] [--json FILE]

All do the same: depth 6, batch 32, cross-entropy, learning rate c/‖θ‖⁴, float32, one thread. They take turns on this
machine, whose speed drifts; the median over turns of the CPU time per step is reported, and the median of the ratios.
`products` are the matrix products of a step, one call per step. PyTorch (`pip install torch==2.13.0`) runs eagerly, as
a researcher would write it; without it that column is left out. Compilation is left out.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from saddlescope.numerics import provenance, reproducible

BATCH, DEPTH, C = 32, 6, 1e-2


def setting(width, samples):
    from saddlescope.losses import CrossEntropy
    from saddlescope.nets import BiasFreeMLP
    from saddlescope.optimisers import NormScaledDescent
    from saddlescope.setting import Setting
    from saddlescope.tasks import ArrayTask

    x, y = made_data(samples)
    return Setting(
        task=ArrayTask(x, y),
        net=BiasFreeMLP((width,) * (DEPTH - 1), (2 / width) ** 0.5),
        optimiser=NormScaledDescent(C, 4),
        loss=CrossEntropy(),
        batch=BATCH,
        epochs=1000,
        precision="float32",
    )


def made_data(samples):
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.random((samples, 784)), np.eye(10)[rng.integers(0, 10, samples)]


def ours(setting, steps):
    """The engine, called as the driver calls it."""
    stepper = setting.engine.begin(setting)
    state = stepper.start()

    def turn():
        nonlocal state
        state, _ = stepper.advance(state, 0, steps, setting.optimiser.lr)

    return turn


def driver(setting, steps):
    """`train` with nothing observed: the engine and all that is decided between its calls."""
    from saddlescope.training.running import RunUnderWay
    from saddlescope.training.save_at import SaveAt

    run = RunUnderWay(setting, (), SaveAt())

    def turn():
        """Its calls grow to a quarter of a second, so that a turn may be longer; it says how long."""
        start = run.history.step
        while run.history.step - start < steps:
            run.take(*run.stepper.advance(*run.next_call()))
        return run.history.step - start

    return turn


def scan(setting, steps):
    """A plain scan over batches that are gathered beforehand."""
    import jax
    import jax.numpy as jnp

    params = [jnp.asarray(w, "float32") for w in setting.initial_params().values()]
    data = setting.data()
    rows = setting.permutation(0)[: steps * BATCH]
    batches = [jnp.asarray(v[rows], "float32").reshape(steps, BATCH, -1) for v in (data.x, data.y)]

    def loss(weights, x, y):
        for w in weights[:-1]:
            x = jax.nn.relu(x @ w.T)
        return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(x @ weights[-1].T), axis=1))

    def step(weights, batch):
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        lr = C / sum(jnp.vdot(w, w) for w in weights) ** 2
        return [w - lr * g for w, g in zip(weights, gradient, strict=True)], value

    run = jax.jit(lambda weights: jax.lax.scan(step, weights, tuple(batches)))

    def turn():
        jax.block_until_ready(run(params))

    return turn


def torch_loop(setting, steps):
    import torch

    torch.set_num_threads(1)
    weights = [torch.tensor(w, dtype=torch.float32, requires_grad=True) for w in setting.initial_params().values()]
    data = setting.data()
    x, y = torch.tensor(data.x, dtype=torch.float32), torch.tensor(data.y.argmax(1))

    def turn():
        order = torch.randperm(len(x))
        for i in range(steps):
            rows = order[i * BATCH : (i + 1) * BATCH]
            h = x[rows]
            for w in weights[:-1]:
                h = torch.relu(torch.nn.functional.linear(h, w))
            loss = torch.nn.functional.cross_entropy(torch.nn.functional.linear(h, weights[-1]), y[rows])
            gradient = torch.autograd.grad(loss, weights)
            with torch.no_grad():
                lr = C / sum(torch.vdot(w.flatten(), w.flatten()) for w in weights) ** 2
                for w, g in zip(weights, gradient, strict=True):
                    w -= lr * g
            loss.item()

    return turn


def products(setting, steps):
    """The matrix products of a step: forward, gradient of the weights, gradient of what comes in."""
    import jax
    import jax.numpy as jnp

    weights = [jnp.asarray(w, "float32") for w in setting.initial_params().values()]
    ins = [jnp.ones((BATCH, w.shape[1]), "float32") for w in weights]
    outs = [jnp.ones((BATCH, w.shape[0]), "float32") for w in weights]
    products = jax.jit(
        lambda a, g, w: [(x @ m.T, d.T @ x, d @ m if j else x) for j, (x, d, m) in enumerate(zip(a, g, w, strict=True))]
    )

    def turn():
        for _ in range(steps):
            jax.block_until_ready(products(ins, outs, weights))

    return turn


def variants():
    found = {"products": products, "JAX scan": scan, "our engine": ours, "our train": driver}
    try:
        import torch  # noqa: F401
    except ImportError:
        return found
    return found | {"PyTorch loop": torch_loop}


@reproducible()
def compare(width, samples, steps, rounds):
    """CPU milliseconds per step of each variant, one list per variant, in the order of the turns."""
    made = setting(width, samples)
    turns = {name: make(made, steps) for name, make in variants().items()}
    for turn in turns.values():
        turn()
    spent = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            start = time.process_time()
            done = turn() or steps
            spent[name].append((time.process_time() - start) / done * 1e3)
    return spent


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--width", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    for width in options.width:
        steps = max(16, 300 * 100**2 // width**2)
        for samples, kind in (
            (300 * BATCH, "whole batches"),
            (300 * BATCH + 5, "a short last batch"),
        ):
            spent = compare(width, samples, steps, options.rounds)
            print(f"width {width}, {kind}, {steps} steps per turn")
            for name, times in spent.items():
                ratio = statistics.median(a / b for a, b in zip(times, spent["JAX scan"], strict=True))
                print(f"  {name:14s} {statistics.median(times):8.3f} ms per step, {ratio:.2f} of the JAX scan")
            found[f"{width}, {kind}"] = {name: statistics.median(times) for name, times in spent.items()}
    if options.json:
        options.json.write_text(json.dumps({"ms_per_step": found, "where": provenance()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
