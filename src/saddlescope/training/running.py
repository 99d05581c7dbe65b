"""One run under way: calls of the engine, and what is decided between them."""

import math
import time
from bisect import bisect_right
from functools import partial

import numpy as np
import xarray as xr

from saddlescope.engines.engine import cast
from saddlescope.engines.watch import Watch
from saddlescope.errors import require
from saddlescope.numerics import VERSION
from saddlescope.observables.observable import HostNet, Snapshot
from saddlescope.tasks.task import Samples
from saddlescope.training.history import History
from saddlescope.training.passed import PassedSaves
from saddlescope.training.readable import check_readable

CALL_SECONDS = 0.25  # aim of one engine call, so that progress, checkpoints and stops come often
RESERVED = (
    "loss", "learning_rate", "step_loss", "status", "setting", "hash", "engine", "cpu_seconds", "wall_seconds",
    "aliased",
)  # fmt: skip


def held_out_for(setting, observe) -> Samples | None:
    """The samples that are not trained on, in the precision of the run, where an observable asks for them."""
    found = setting.held_out() if any(o.uses_held_out for o in observe) else None
    return None if found is None else cast(found, setting.precision)


def snapshot_of(stepper, state, params, held_out, step: int, lr: float) -> Snapshot:
    """An instant of a run. An engine on the host evaluates the net there itself."""
    s, setting = stepper, stepper.setting
    host = HostNet(partial(s.channels, state), partial(s.loss, state)) if s.on_host else None
    now = np.asarray(step), np.asarray(lr, setting.precision)
    return Snapshot(s.net, s.loss_of, params, s.statistics, s.data, held_out, *now, setting.task, host)


class RunUnderWay:
    """A run between two calls of its engine. The clock is the optimiser step.

    Observables are read and stops are heard at any step. Rules of learning rate and stop are asked at the ends of
    epochs (full batch: after every step), or after every step where a rule says `every_step`.

    **Arguments:**

    - `setting`, `observe`, `save_at`, `per_step`: as of `train`.
    """

    def __init__(self, setting, observe, save_at, per_step=False):
        names = [o.name for o in observe]
        require(
            len({*names, *RESERVED}) == len(names) + len(RESERVED),
            f"Observables need names of their own, not {', '.join(RESERVED)}; got {', '.join(names)}.",
        )
        self.setting, self.observe, self.save_at = setting, observe, save_at
        self.per_step = per_step and setting.batch is not None  # of a full-batch run every loss is kept anyway
        self.stepper = setting.engine.begin(setting)
        self.state = self.stepper.start()
        self.history = History(lr=setting.schedule.first(setting.optimiser.lr))
        self.held_out = held_out_for(setting, observe)
        self.each = setting.steps_per_epoch
        self.due = save_at.in_steps(setting)
        self.passed = PassedSaves(self.due, observe, self.stepper, self.state)
        self.lr = self.history.lr  # of the last call
        self.call = 64  # steps of the next engine call; grows to fill CALL_SECONDS
        self.consistent = True  # state and history agree; a stop in between must not be written
        if observe:
            check_readable(self)

    def line(self) -> str:
        """Where it stands, for people who wait."""
        h = self.history
        now = h.losses[-1] if h.losses else h.pending[-1]
        cuts = f"  {len(h.cuts)} cuts" if h.cuts else ""
        return f"loss {now:.4g}  learning rate {h.lr:.3g}{cuts}"

    @property
    def over(self) -> bool:
        return self.history.status != "running"

    @property
    def ticks(self) -> int:
        """Epochs that are finished (full batch: steps)."""
        return self.history.step // self.each

    def next_call(self) -> tuple:
        """What the engine is asked for next: from which state and step, how many steps, at which learning rate; and, if
        it can, what to look out for or to keep on the way."""
        h = self.history
        self.began = time.perf_counter(), time.process_time()
        if h.step == 0 and self.due[:1] == [0] and not h.saved_steps:
            self.consistent = False
            h.save([0], ["time"], self.passed.read_now(self.snapshot()))
            self.consistent = True
        watch = self._watch()
        n, self.lr = self.steps_ahead(watch), h.lr
        more = self.passed.asked(h.step, n) if watch is None else (watch,)
        return self.state, h.step, n, h.lr, *more

    def _watch(self) -> Watch | None:
        """The rules that the engine can look out for: of whole epochs, where their answer hangs on losses alone."""
        h, schedule = self.history, self.setting.schedule
        if not self.stepper.watches or h.step % self.each:
            return None
        window = schedule.window_at(h.lr)
        level = max((rule.watched_level for rule in self.setting.stop), default=-math.inf)
        if not window and level == -math.inf:
            return None
        after = schedule.quiet(self.ticks, h.cuts, h.lr) if window else math.inf
        return Watch(after, window, level, tuple(h.losses[-2 * window :]) if window else ())

    def take(self, state, losses, kept=None):
        """Keep what the engine gave, and decide what it means."""
        self.consistent, self.state, self.passed.kept = False, state, kept
        wall, cpu = self.began
        short = time.perf_counter() - wall < CALL_SECONDS
        self.call = min(self.stepper.max_steps, max(1, self.call * 2 if short else self.call // 2))
        self._keep(losses)
        self._save_passed(self.history.step - 1)  # a call that ends at no save has passed some
        self.history.wall_seconds += time.perf_counter() - wall
        self.history.cpu_seconds += time.process_time() - cpu
        self.consistent = True

    def steps_ahead(self, watch=None) -> int:
        """As far as nothing has to be read, decided or stopped, but for what the engine looks out for itself."""
        h, setting, after = self.history, self.setting, self.save_at.after_cut
        after_cuts = [(c + after) * self.each for c in h.cuts[-after:]] if after else []
        due = [self.budget, *(t for t in after_cuts if t > h.step)]
        due += self.passed.reach(h.step)
        schedule = setting.schedule
        if not (watch and watch.window):
            due.append(self._asked_at(schedule, schedule.quiet(self._clock(schedule), h.cuts, h.lr)))
        asked = [rule for rule in setting.stop if not watch or rule.watched_level == -math.inf]
        due += [self._asked_at(rule, rule.quiet(h.lr)) for rule in asked]
        n = max(1, int(min(self.call, self.stepper.max_steps, min(due) - h.step)))
        return n // self.each * self.each if watch and n > self.each else n  # only from the end of an epoch can it look

    def _clock(self, rule):
        return self.history.step if rule.every_step else self.ticks

    def _asked_at(self, rule, quiet):
        """The step at which a rule must be asked that stays quiet for so many of its ticks."""
        return self.history.step + quiet if rule.every_step else (self.ticks + quiet) * self.each

    @property
    def budget(self) -> int:
        return self.setting.budget

    def _keep(self, losses):
        """Keep the losses up to the first that is not finite; then decide what they mean."""
        h = self.history
        h.step += len(losses)
        rows = self._finished_ticks(losses)
        means = rows.mean(axis=1)
        bad = np.flatnonzero(~np.isfinite(means))
        keep = int(bad[0]) + 1 if bad.size else len(means)
        h.losses += means[:keep].tolist()
        h.lrs += [h.lr] * keep
        if self.per_step:
            h.step_losses += list(rows[:keep])
        if bad.size:
            h.step = self.each * len(h.losses)
            h.pending = []
            h.status = f"diverged at {self.setting.loss_axis} {len(h.losses) - 1}"
            h.event("diverged")
        else:
            self.decide(float(losses[-1]))

    def _finished_ticks(self, losses) -> np.ndarray:
        """The step losses of every tick that these complete, one row each; the rest waits for its epoch's end."""
        h, all_ = self.history, np.concatenate([self.history.pending, losses])
        whole = len(all_) // self.each * self.each
        h.pending = all_[whole:].tolist()
        return all_[:whole].reshape(-1, self.each)

    def decide(self, last):
        """Change the learning rate, read the observables, stop: as the rules say. `last` is the last step's loss."""
        h, at = self.history, self.save_at
        at_end = h.step % self.each == 0
        lr = self._next_rate(at_end, last)
        stop = next((rule for rule in self.setting.stop if self._reached(rule, lr, at_end, last)), None)
        over = stop is not None or h.step == self.budget
        after = at.after_cut is not None and at_end and self.ticks - at.after_cut in h.cuts
        if cut := lr != h.lr and not self.setting.schedule.every_step:
            h.cuts.append(self.ticks)
            h.event("cut")
        i = bisect_right(self.due, h.step)
        reasons = {
            "time": i > 0 and self.due[i - 1] == h.step,
            "before cut": cut and at.cuts,
            "after cut": after,
            "end": over,
        }
        if any(reasons.values()):
            self.save("+".join(k for k, v in reasons.items() if v))
        h.lr = lr
        if over:
            self.close(stop)

    def _next_rate(self, at_end, last):
        h, schedule = self.history, self.setting.schedule
        if schedule.every_step:
            return schedule.after_step(h.lr, h.step, last)
        return schedule.after(h.lr, h.losses, h.cuts) if at_end else h.lr

    def _reached(self, rule, lr, at_end, last):
        if rule.every_step:
            return rule.reached(lr, [last])
        return at_end and rule.reached(lr, self.history.losses)

    def close(self, stop):
        """A full-batch curve ends with the loss after the last step; the last step, too, may have been too large."""
        h = self.history
        last = self.stepper.loss(self.state) if self.setting.batch is None else None
        finite = self.stepper.is_finite(self.state) if last is None else np.isfinite(last)
        if h.pending:  # the budget ends within an epoch
            h.losses.append(float(np.mean(h.pending)))
            h.lrs.append(h.lr)
            if self.per_step:
                h.step_losses.append(np.array(h.pending + [np.nan] * (self.each - len(h.pending))))
        if not finite:
            h.status = f"diverged at {self.setting.loss_axis} {self.ticks}"
            h.event("diverged")
        else:
            h.status = f"stopped: {stop.reason}" if stop else "finished"
            h.event("stop" if stop else "end")
        if last is not None:
            h.losses.append(last)
            h.lrs.append(h.lr)

    def save(self, reason):
        """Read the observables now, after the saves that the last call passed."""
        h = self.history
        if not self._save_passed(h.step, reason):
            h.save([h.step], [reason], self.passed.read_now(self.snapshot()))

    def _save_passed(self, last, reason="time") -> bool:
        """Read the observables at the saves passed up to step `last`; `reason` is that of the last one."""
        steps, values = self.passed.read(self.snapshot, last)
        self.history.save(steps, ["time"] * (len(steps) - 1) + [reason] * bool(steps), values)
        return bool(steps)

    def snapshot(self) -> Snapshot:
        """This instant, as observables see it."""
        params = self.stepper.params(self.state)
        return snapshot_of(self.stepper, self.state, params, self.held_out, self.history.step, self.lr)

    def dataset(self) -> xr.Dataset:
        """The run as it is now."""
        s = self.setting
        each = None if s.batch is None else self.each
        about = dict(setting=s.to_json(), hash=s.hash, engine=s.engine.name)
        result = self.history.dataset(each, self.observe, **about)
        result.attrs["numerics"] = VERSION
        if s.task.aliased:  # the target is faster than its samples can show
            result = result.assign(aliased=True)
        return result
