"""What `help()` and an editor show: every exported class and function is described by hand, and annotated."""

import dataclasses
import inspect
from importlib import import_module
from types import FunctionType

import pytest
from cases import CASES

import saddlescope
from saddlescope.nets import Activation

PACKAGES = (
    "tasks",
    "tasks.datasets",
    "nets",
    "losses",
    "initials",
    "optimisers",
    "observables",
    "engines",
    "checks",
    "theory",
    "stages",
    "explanations",
    "figures",
    "training",
    "sweeps",
    "meanfield",
    "meanfield.laws",
)
EXPORTED = {
    getattr(package, name)
    for package in [saddlescope, *(import_module(f"saddlescope.{p}") for p in PACKAGES)]
    for name in package.__all__
}
CLASSES = {c for c in EXPORTED if isinstance(c, type)} | {type(case) for case in CASES}
FUNCTIONS = {f for f in EXPORTED if isinstance(f, FunctionType)}


def by_name(found):
    return pytest.mark.parametrize("thing", sorted(found, key=str), ids=lambda t: t.__name__)


def written_by_hand(cls):
    """Its own docstring, not one that a base class or the machinery of dataclasses gave it."""
    doc = vars(cls).get("__doc__") or ""
    return "" if doc.startswith(f"{cls.__name__}(") else doc


def arguments_of(cls):
    """Fields of a dataclass or part, else what the class is called with."""
    if dataclasses.is_dataclass(cls):
        return [f.name for f in dataclasses.fields(cls) if f.init]
    own = vars(cls).get("__init__")
    return list(inspect.signature(own).parameters)[1:] if own else []


@by_name(CLASSES)
def test_class_has_its_own_docstring_with_every_argument(thing):
    doc = written_by_hand(thing)
    listed = doc.partition("**Arguments:**")[2]
    missing = [name for name in arguments_of(thing) if f"`{name}`" not in listed]
    assert doc
    assert not missing


def test_a_docstring_of_dataclasses_is_not_one_written_by_hand():
    class Bare(Activation):
        slope: float = 1.0

        def __call__(self, z):
            return z

    assert Bare.__doc__
    assert not written_by_hand(Bare)
    assert arguments_of(Bare) == ["slope"]


@by_name(FUNCTIONS)
def test_function_has_a_docstring_and_annotations(thing):
    signature = inspect.signature(thing)
    bare = [n for n, p in signature.parameters.items() if p.annotation is p.empty]
    bare += ["return"] * (signature.return_annotation is signature.empty)
    assert thing.__doc__
    assert not bare
