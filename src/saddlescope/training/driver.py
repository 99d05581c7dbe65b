"""The driver: owns the schedule, events, observables, checkpoints and progress of one run, whatever the engine."""

import time

import jax.numpy as jnp
import numpy as np
import xarray as xr

from saddlescope import numerics
from saddlescope.engines.fused import Fused
from saddlescope.engines.jax_loop import JaxLoop
from saddlescope.errors import require, require_kind
from saddlescope.observables.observable import Observable, Snapshot, measure
from saddlescope.progress import Progress
from saddlescope.serialization.identity import storable
from saddlescope.setting import Setting
from saddlescope.training.checkpoint import read_checkpoint, write_checkpoint
from saddlescope.training.history import History
from saddlescope.training.interrupt import looping, raise_if_stopped
from saddlescope.training.save_at import SaveAt

CALL_SECONDS = 0.25  # aim of one engine call, so that progress and checkpoints come often
CHECKPOINT_SECONDS = 5
KEPT = ("loss", "learning_rate", "step_loss", "status", "setting", "hash", "engine", "cpu_seconds", "wall_seconds",
        "aliased")  # fmt: skip


def engine_for(setting):
    """The engine that the setting names."""
    if setting.engine == "flow":
        from saddlescope.engines.flow import Flow  # its solver takes half a second to import

        return Flow(setting)
    return (Fused if setting.engine == "fused" else JaxLoop)(setting)


def train(
    setting, observe=(), save_at=None, *, checkpoint=None, keep_last=True, per_step=False, quiet=False
) -> xr.Dataset:
    """Run one setting; a dataset with `loss` and `learning_rate` at every step (or epoch) and the observables where
    saved.

    `checkpoint` is a file: the run continues from it if it is there, and keeps it up to date; with `keep_last=False`
    the end of a run is not written to it. `per_step` keeps the loss of each minibatch step too. A run that stops being
    finite is a result: marked, with all that was measured.
    """
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    save_at = SaveAt() if save_at is None else save_at
    check_kinds(setting, observe, save_at)
    save_at.check_within(setting)
    run = Run(setting, observe, save_at, per_step)
    if checkpoint is not None:
        require(storable(setting.to_json()), "A setting with a lambda runs but is not stored: name it.")
        run.state, run.history = read_checkpoint(checkpoint, run) or (run.state, run.history)
    written = time.monotonic()
    try:
        with looping(), Progress(setting.tick, setting.budget, quiet) as bar:
            while run.advance():
                raise_if_stopped()
                bar(run.history.tick, run.line())
                if checkpoint is not None and time.monotonic() - written > CHECKPOINT_SECONDS:
                    write_checkpoint(checkpoint, run)
                    written = time.monotonic()
    finally:  # done, or stopped by Ctrl-C: either way the run can go on from here
        if checkpoint is not None and run.whole and (keep_last or not run.over):
            write_checkpoint(checkpoint, run)
    return run.dataset()


def check_kinds(setting, observe, save_at):
    given = {"setting": (setting, Setting), "save_at": (save_at, SaveAt)}
    given |= {f"observe[{i}]": (o, Observable) for i, o in enumerate(observe)}
    for name, (value, kind) in given.items():
        require_kind(value, kind, f"`{name}` must be of the kind {kind.__name__}")


class Run:
    """One run under way. `advance` does the next call of the engine and says whether there is more to do."""

    def __init__(self, setting, observe, save_at, per_step=False):
        names = [o.name for o in observe]
        require(
            len({*names, *KEPT}) == len(names) + len(KEPT),
            f"Observables need names of their own, not {', '.join(KEPT)}; got {', '.join(names)}.",
        )
        self.setting, self.observe, self.save_at = setting, observe, save_at
        self.per_step = per_step and setting.batch is not None  # a full-batch tick is a step
        self.engine = engine_for(setting)
        self.state = self.engine.start()
        self.history = History(lr=setting.optimiser.lr)
        self.budget, self.tick = setting.budget, setting.tick
        self.call = 16  # ticks of the next engine call; grows to fill CALL_SECONDS
        self.whole = True  # state and history agree; a stop in between must not be written
        if observe:
            self.measured()  # what cannot be read is found out before the training, not after it

    def line(self) -> str:
        """Where it stands, for people who wait."""
        h = self.history
        cuts = f"  {len(h.cuts)} cuts" if h.cuts else ""
        return f"loss {h.losses[-1]:.4g}  rate {h.lr:.3g}{cuts}"

    @property
    def over(self) -> bool:
        return self.history.status != "running"

    def advance(self) -> bool:
        h = self.history
        if self.over:
            return False
        wall, cpu = time.perf_counter(), time.process_time()
        if h.tick == 0 and 0 in self.save_at.ticks and not h.saved_ticks:
            self.whole = False
            self.save("time")
            self.whole = True
        state, rows = self.engine.advance(self.state, h.tick, self.ticks_ahead(), h.lr)
        self.whole, self.state = False, state
        short = time.perf_counter() - wall < CALL_SECONDS
        self.call = min(self.engine.longest, max(1, self.call * 2 if short else self.call // 2))
        self.take(rows)
        h.wall_seconds += time.perf_counter() - wall
        h.cpu_seconds += time.process_time() - cpu
        self.whole = True
        return not self.over

    def ticks_ahead(self) -> int:
        """As far as nothing has to be read, decided or stopped."""
        h, after = self.history, self.save_at.after_cut
        due = [t for t in (*self.save_at.ticks, *(c + after for c in h.cuts if after)) if t > h.tick]
        setting = self.setting
        calm = min([setting.schedule.quiet(h.tick, h.cuts), *(rule.quiet(h.lr) for rule in setting.stop)])
        return max(1, int(min(self.call, calm, min(due, default=self.budget) - h.tick, self.budget - h.tick)))

    def take(self, rows):
        """Keep the losses up to the first that is not finite; then decide what they mean."""
        h, losses = self.history, rows.mean(axis=1)
        bad = np.flatnonzero(~np.isfinite(losses))
        keep = bad[0] + 1 if bad.size else len(losses)
        h.losses += losses[:keep].tolist()
        h.lrs += [h.lr] * int(keep)
        if self.per_step:
            h.step_losses += list(rows[:keep])
        if bad.size:
            h.status = f"diverged at {self.tick} {h.tick - 1}"
            h.event("diverged")
        else:
            self.decide()

    def decide(self):
        """Cut the learning rate, read the observables, stop: after the last tick, as the rules say."""
        h, at = self.history, self.save_at
        lr = self.setting.schedule.after(h.lr, h.losses, h.cuts)
        stop = next((rule for rule in self.setting.stop if rule.reached(lr, h.losses)), None)
        over = stop is not None or h.tick == self.budget
        after = at.after_cut is not None and h.tick - at.after_cut in h.cuts
        if cut := lr != h.lr:
            h.cuts.append(h.tick)
            h.event("cut")
        reasons = {"time": h.tick in at.ticks, "before cut": cut and at.cuts, "after cut": after, "end": over}
        if any(reasons.values()):
            self.save("+".join(k for k, v in reasons.items() if v))
        h.lr = lr
        if over:
            self.close(stop)

    def close(self, stop):
        """A full-batch curve ends with the loss after the last step; the last step, too, may have been too large."""
        h, last = self.history, self.engine.loss(self.state)
        if not np.isfinite(last):
            h.status = f"diverged at {self.tick} {h.tick}"
            h.event("diverged")
        else:
            h.status = f"stopped: {stop.reason}" if stop else "finished"
            h.event("stop" if stop else "end")
        if self.setting.batch is None:
            h.losses.append(last)
            h.lrs.append(h.lr)
            h.closed = True

    def save(self, reason):
        self.history.save(reason, self.measured())

    def measured(self):
        e, h = self.engine, self.history
        tick, lr = jnp.asarray(h.tick), jnp.asarray(h.lr, self.setting.precision)
        snapshot = Snapshot(e.net, e.params(self.state), e.statistics, e.data, tick, lr, self.setting.task)
        return measure(self.observe, snapshot)

    def dataset(self) -> xr.Dataset:
        s = self.setting
        result = self.history.dataset(s.tick, self.observe, setting=s.to_json(), hash=s.hash, engine=self.engine.name)
        result.attrs["numerics"] = numerics.VERSION
        if s.task.aliased:  # the target is faster than its samples can show
            result = result.assign(aliased=True)
        return result
