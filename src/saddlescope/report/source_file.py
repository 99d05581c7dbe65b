"""An experiment as its file writes it: title, place in the paper, axes. The file is parsed, never imported.

Importing an experiment means importing JAX, which takes seconds; a listing should answer at once. Axes are literals,
ranges, and names of such in this file or in a file of the package beside it; any other expression is shown as text.
"""

import ast
import operator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CALLS = {"range": range, "tuple": tuple, "list": list, "dict": dict, "sorted": sorted, "len": len}
OPERATORS = {
    ast.BitOr: operator.or_,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
OURS = "saddlescope.papers."


class Unknown(Exception):
    """An expression that is not understood."""


FAILS = (Unknown, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class SourceFile:
    """What the text of an experiment's file says.

    **Arguments:**

    - `title`, `source`: as given to `Experiment`; empty where they are not plain text.
    - `doc`: the docstring of the file.
    - `axes`: for `full` and `quick`, the values of each axis, or the text of an expression.
    - `trains`: whether it has a `setting`, rather than a `measure`.
    """

    title: str = ""
    source: str = ""
    doc: str = ""
    axes: dict[str, dict[str, list | str]] = field(default_factory=dict)
    trains: bool = True


def read_source(path) -> SourceFile | None:
    """What a file says of its `experiment = Experiment(...)`; None where it has none, or is not Python."""
    try:
        tree = _tree(str(path))
    except (SyntaxError, ValueError, OSError, RecursionError):
        return None
    call = _values(tree).get("experiment")
    if not isinstance(call, ast.Call):
        return None
    given = {k.arg: k.value for k in call.keywords if k.arg}
    axes = {scale: _axes(given[scale], path) for scale in ("full", "quick") if scale in given}
    source = given.get("source")
    return SourceFile(_text(given.get("title")), _text(source), ast.get_docstring(tree) or "", axes, "setting" in given)


def _text(node) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _axes(node, path) -> dict[str, list | str]:
    """Name → list of values; the text of an expression that is not understood."""
    if isinstance(node, ast.Call) and not node.args:
        return {k.arg: _listed(k.value, path) for k in node.keywords if k.arg}
    try:
        return {str(name): list(values) for name, values in _evaluate(node, path).items()}
    except FAILS:
        return {"axes": ast.unparse(node)}


def _listed(node, path) -> list | str:
    try:
        return list(_evaluate(node, path))
    except FAILS:
        return ast.unparse(node)


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text("utf-8"))


def _values(tree) -> dict[str, ast.expr]:
    """What is assigned at the top of a file."""
    found = {}
    for line in tree.body:
        if isinstance(line, ast.Assign):
            for target in line.targets:
                found |= _assigned(target, line.value)
    return found


def _assigned(target, value) -> dict[str, ast.expr]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        return {name: v for t, given in pairs for name, v in _assigned(t, given).items()}
    return {}


def _evaluate(node, path) -> Any:
    """The value of an expression that is made of literals, names and a few harmless calls."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [v for part in parts for v in _items(part, path)]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {_evaluate(k, path): _lenient(v, path) for k, v in zip(keys, values, strict=True)}
        case ast.Name(id=name):
            return _lookup(name, path)
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return _lookup(name, _file_of(module, path))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, path)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_evaluate(left, path), _evaluate(right, path))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=named) if name in CALLS:
            given = {k.arg: _evaluate(k.value, path) for k in named if k.arg}
            return CALLS[name](*(_evaluate(a, path) for a in args), **given)
    raise Unknown


def _items(node, path) -> list:
    """An item of a tuple; `*NAMES` is several."""
    return list(_evaluate(node.value, path)) if isinstance(node, ast.Starred) else [_evaluate(node, path)]


def _lenient(node, path):
    """A value of a dict, of which only the keys are an axis."""
    try:
        return _evaluate(node, path)
    except (Unknown, TypeError):
        return None


def _lookup(name, path):
    tree = _tree(str(path))
    if name in (found := _values(tree)):
        return _evaluate(found[name], path)
    for line in tree.body:
        if isinstance(line, ast.ImportFrom) and (line.module or "").startswith(OURS):
            for alias in line.names:
                if (alias.asname or alias.name) == name:
                    return _lookup(alias.name, _path_of_module(line.module))
    raise Unknown


def _file_of(name, path):
    """The file of a module that is imported as `from package import module as name`."""
    for line in _tree(str(path)).body:
        if isinstance(line, ast.ImportFrom) and (line.module or "").startswith(OURS):
            for alias in line.names:
                if (alias.asname or alias.name) == name:
                    return _path_of_module(f"{line.module}.{alias.name}")
    raise Unknown


def _path_of_module(module) -> str:
    """Where a module of a paper lies; a paper's package is quick to import."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise Unknown
    return spec.origin
