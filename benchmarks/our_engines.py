"""Our own engines, called as the driver calls them: many steps per call, the orders of the samples made inside."""

import numpy as np
from peer import Peer


class OurEngine(Peer):
    """The engine that the setting names."""

    def __init__(self, setting):
        super().__init__(setting)
        self.stepper = setting.engine.begin(setting)
        self.state = self.stepper.start()

    def run(self, epochs):
        """`advance` counts steps, and takes so many of them at most."""
        each, lr = self.setting.steps_per_epoch, self.setting.optimiser.lr
        step, end = self.done * each, (self.done + epochs) * each
        while step < end:
            n = min(end - step, self.stepper.max_steps)
            self.state, _ = self.stepper.advance(self.state, step, n, lr)
            step += n
        self.done += epochs

    def weights(self):
        params = self.stepper.params(self.state)
        return [np.asarray(params[f"{kind}{j}"]) for j in range(len(self.trained)) for kind in "Cc"]
