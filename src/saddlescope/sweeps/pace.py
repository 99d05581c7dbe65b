"""How many runs go to a worker in one message."""

import math

from saddlescope.sweeps.worker_job import SHARE, JobReport

MOST = 64  # runs in one message


class Pace:
    """The size of the next message: as many runs as take `SHARE` seconds, if they go as fast as the last ones.

    Long runs are first in the queue, so the next ones seldom take longer. Where they do, the worker gives back what it
    has not begun.

    **Arguments:**

    - `slots`: how many messages are worked on at a time.
    """

    def __init__(self, slots: int):
        self.slots, self.seconds = slots, math.inf  # per run

    def learn(self, reports: list[JobReport]):
        """Take note of how long the runs of a message took."""
        taken = [report.seconds for report in reports if report.state in ("done", "failed")]
        if taken:
            self.seconds = max(sum(taken) / len(taken), SHARE / MOST)

    def size(self, waiting: int) -> int:
        """Runs of the next message, of so many that wait. At the end the rest is shared among all workers."""
        return max(1, min(int(SHARE / self.seconds), waiting // (2 * self.slots)))
