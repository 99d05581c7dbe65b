"""The fused kernel: forward, backward, clipping and update of many steps of a random-feature net in one call."""

from saddlescope.engines.fused.engine import Fused

__all__ = ["Fused"]
