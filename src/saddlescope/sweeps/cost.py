"""How much a run costs, before it is run: what orders a sweep and shares out the time that is left.

    work = steps × (samples per step × weights + overhead of the engine)

in multiplications, with the whole budget of steps: nobody knows when a stop rule will end a run. Seconds come from
runs that are done, or from a short calibration on this machine.
"""

import json
import time

import jax
import numpy as np

from saddlescope.nets import Net
from saddlescope.numerics import reproducible
from saddlescope.setting import Setting
from saddlescope.training.running import RunUnderWay

_counted: dict[str, int] = {}


def work(setting: Setting) -> float:
    """Multiplications of a whole run, about."""
    task = setting.task
    moments = setting.batch is None and setting.train_on_moments and setting.loss.uses_moments(setting.net)
    seen = task.inputs if moments else (setting.batch or task.size or 1)
    weights = _weights(setting.net, task.inputs, task.outputs)
    return setting.budget * setting.engine.cost_per_step(seen, weights)


def _weights(net: Net, inputs: int, outputs: int) -> int:
    key = json.dumps([net.json_values(), inputs, outputs])  # comparing nets takes longer than comparing their forms
    if key not in _counted:
        _counted[key] = net.parameter_count(inputs, outputs) or _drawn_count(net, inputs, outputs)
    return _counted[key]


def _drawn_count(net, inputs, outputs):
    params = net.init(np.random.default_rng(0), inputs, outputs)
    return sum(int(np.size(v)) for v in jax.tree.leaves(params))


@reproducible()
def seconds_for(records, limit: float = 1.0) -> float:
    """CPU seconds per unit of work, from the first moments of some runs: settings, what is observed, and when."""
    spent = done = 0.0
    for setting, observe, save_at in records:
        RunUnderWay(setting, observe, save_at).advance()  # compiles
        start = time.process_time()
        run = RunUnderWay(setting, observe, save_at)
        while run.advance() and time.process_time() - start < limit:
            pass
        spent += time.process_time() - start
        done += work(setting) * run.history.step / setting.budget
    return spent / done
