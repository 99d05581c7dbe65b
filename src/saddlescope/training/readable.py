"""Whether the observables of a run can be read: found out before the training, not after it."""

import json

from saddlescope.errors import InvalidInput

_READ: set[str] = set()  # kinds of runs whose observables were read before, in this process


def check_readable(run):
    """Read all observables of a run that is about to begin, once per kind of run.

    Net, task, loss and observables are the kind: what can be read with one seed can be read with all. JAX reads them
    before every run, so that it compiles before the run is timed.
    """
    kind = _kind(run.setting, run.observe) if run.stepper.on_host else None
    if kind is None or kind not in _READ:
        run.passed.read_now(run.snapshot())
    if kind is not None:
        _READ.add(kind)


def _kind(setting, observe) -> str | None:
    """None where an observable of the user's own has no form that tells it from others."""
    try:
        return json.dumps([part.json_values() for part in (setting.net, setting.task, setting.loss, *observe)])
    except InvalidInput:
        return None
