"""What an engine that can end a call by itself looks out for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Watch:
    """The end of an epoch at which a rule may speak: an engine that `watches` ends its call there, or before.

    The rules themselves are asked by the driver. An engine may end a call too early, but never too late.

    **Arguments:**

    - `after`: epochs of the call that pass before the learning-rate rule can speak, the last one included.
    - `window`: the rule speaks where the mean loss of so many epochs is not below that of as many before; 0 is never.
    - `level`: a stop rule speaks where the loss of an epoch is below this.
    - `losses`: of the last two windows of epochs, as far as they are done.
    """

    after: float
    window: int
    level: float
    losses: tuple[float, ...]
