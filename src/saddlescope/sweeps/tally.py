"""What a sweep has to do, and how it ended."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MissingRun:
    """A run that is still to be done.

    **Arguments:**

    - `name`: what determines its bits; its file is called so.
    - `point`: its values of the axes.
    - `work`: what it costs, in the units of `Job.work`.
    """

    name: str
    point: dict
    work: float


@dataclass
class Tally:
    """How a sweep ended.

    **Arguments:**

    - `asked`: different runs of the plan.
    - `already`: runs that were done before.
    - `done`: runs that this sweep has done.
    - `elsewhere`: runs that another sweep did meanwhile.
    - `diverged`: those of `done` whose loss stopped being finite. They are results.
    - `damaged`: names of run files that were not intact; they were moved away and done again.
    - `failed`: name → point and reason of each run that failed.
    - `cpu_seconds`: CPU time of the runs in `done`.
    - `stopped`: why the sweep ended early; empty where it did not.
    - `gave_up`: whether it stopped because too many runs failed.
    """

    asked: int
    already: int
    done: int = 0
    elsewhere: int = 0
    diverged: int = 0
    damaged: list[str] = field(default_factory=list)
    failed: dict[str, tuple[dict, str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    stopped: str = ""
    gave_up: bool = False

    @property
    def missing(self) -> int:
        """Runs of the plan that are neither done nor failed."""
        return self.asked - self.already - self.done - self.elsewhere - len(self.failed)
