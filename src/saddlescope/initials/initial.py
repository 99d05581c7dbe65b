"""The kind of all starting points."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from saddlescope.nets.net import Params
from saddlescope.serialization.part import Part

if TYPE_CHECKING:
    from saddlescope.setting import Setting


class Initial(Part):
    """Where a run starts from: `Setting(initial=…)`. Without one, the net's own draw from the seed.

    Couplings of nets, branches of a run, paths from a saddle and warm starts are then ordinary settings, with a hash.
    """

    @property
    def first_epoch(self) -> int:
        """The number of the first epoch, which decides the order of its samples. A branch continues
        the count.
        """
        return 0

    @abstractmethod
    def params(self, setting: "Setting") -> Params:
        """The parameters at step 0, in float64."""
