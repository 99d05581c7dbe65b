"""Tasks: what is learned."""

from saddlescope.tasks.chirp import Chirp
from saddlescope.tasks.cosines import Cosines, cosine, cosine_sum, dyadic, multi_frequency
from saddlescope.tasks.curve import Curve
from saddlescope.tasks.digits import DigitPair
from saddlescope.tasks.given import ArrayTask, FunctionTask
from saddlescope.tasks.images import ImageClasses
from saddlescope.tasks.in_context import InContextRegression
from saddlescope.tasks.linear_teacher import LinearTeacher
from saddlescope.tasks.points import Points, two_sided_step
from saddlescope.tasks.task import Moments, Samples, Task
from saddlescope.tasks.teacher import Teacher

__all__ = [
    "ArrayTask",
    "Chirp",
    "Cosines",
    "Curve",
    "DigitPair",
    "FunctionTask",
    "ImageClasses",
    "InContextRegression",
    "LinearTeacher",
    "Moments",
    "Points",
    "Samples",
    "Task",
    "Teacher",
    "cosine",
    "cosine_sum",
    "dyadic",
    "multi_frequency",
    "two_sided_step",
]  # fmt: skip
