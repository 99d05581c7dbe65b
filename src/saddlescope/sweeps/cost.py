"""How much a run costs, before it is run: what orders a sweep and shares out the time that is left.

    work = ticks × (samples × weights + steps × overhead)

in multiplications, with the whole budget for the ticks: nobody knows when a stop rule will end a run. Seconds come
from runs that are done, or from a short calibration on this machine.
"""

import json
import time

import numpy as np

from saddlescope.nets import Net
from saddlescope.setting import Setting
from saddlescope.training.driver import Run

OVERHEAD = {"fused": 2e4, "jax": 2e5, "flow": 2e6}  # of one step, in multiplications

COUNTED: dict[str, int] = {}


def work(setting: Setting) -> float:
    samples, task = setting.task.size or 1, setting.task
    steps = 1 if setting.batch is None else -(-samples // setting.batch)
    moments = setting.batch is None and setting.reduce and setting.net.uses_moments
    seen = task.inputs if moments else samples
    return setting.budget * (seen * weights(setting.net, task.inputs, task.outputs) + steps * OVERHEAD[setting.engine])


def weights(net: Net, inputs: int, outputs: int) -> int:
    key = json.dumps([net.form(), inputs, outputs])  # comparing nets takes longer than comparing their forms
    if key not in COUNTED:
        COUNTED[key] = sum(int(np.size(v)) for v in net.init(np.random.default_rng(0), inputs, outputs).values())
    return COUNTED[key]


def seconds_for(records, limit=1.0) -> float:
    """CPU seconds a unit of work, from the first moments of some runs: settings, what is observed, and when."""
    spent = done = 0.0
    for setting, observe, save_at in records:
        Run(setting, observe, save_at).advance()  # compiles
        start = time.process_time()
        run = Run(setting, observe, save_at)
        while run.advance() and time.process_time() - start < limit:
            pass
        spent += time.process_time() - start
        done += work(setting) * run.history.tick / setting.budget
    return spent / done
