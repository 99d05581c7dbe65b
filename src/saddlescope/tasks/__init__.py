"""What is learned."""

from saddlescope.tasks.cosine import Cosine
from saddlescope.tasks.linear_teacher import LinearTeacher
from saddlescope.tasks.points import Points
from saddlescope.tasks.task import Moments, Samples, Task

__all__ = ["Cosine", "LinearTeacher", "Moments", "Points", "Samples", "Task"]
