"""A filter on points, as a person writes it: `factor == 1 and bs <= 4`, `N in (256, 512)`, `bs <= N / 2`.

Read as Python's grammar, but only comparisons, and/or/not and arithmetic on the axes: nothing else is ever evaluated.
"""

import ast
import operator

from saddlescope.errors import InvalidInput, nearest, require

COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
LONGEST = 1000  # characters


def filter_points(points: list[dict], text: str) -> list[dict]:
    """The points for which the expression is true."""
    require(len(text) <= LONGEST, f"A filter has at most {LONGEST} characters, got {len(text)}.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InvalidInput(f"A filter reads like `factor == 1 and bs <= 4`; got {text!r}.") from None
    try:
        return [point for point in points if _value(tree, point, text)]
    except (TypeError, ZeroDivisionError, OverflowError, RecursionError) as error:
        raise InvalidInput(f"The filter {text!r} cannot be evaluated at every point ({error}).") from None


def _value(node, point, text):
    match node:
        case ast.Constant(value=int() | float() | str() | bool() | None as constant):
            return constant
        case ast.Name() | ast.Attribute():
            return _axis(node, point, text)
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, point, text) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_value(part, point, text) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, point, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, point, text)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_value(part, point, text) for part in parts)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = _value(left, point, text), _value(right, point, text)
            numbers = all(isinstance(x, int | float) for x in (a, b))
            require(numbers, f"The filter {text!r} cannot compute with {a!r} and {b!r}: both must be numbers.")
            return ARITHMETIC[type(op)](a, b)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in COMPARE for op in ops):
            values = [_value(part, point, text) for part in (left, *others)]
            return all(COMPARE[type(op)](a, b) for op, a, b in zip(ops, values[:-1], values[1:], strict=True))
    raise InvalidInput(
        f"A filter compares axes with and, or, not and arithmetic; {ast.unparse(node)!r} in it does not fit."
    )


def _axis(node, point, text):
    """The value of an axis; `optimiser.lr` is an axis too."""
    name = ast.unparse(node)
    if name not in point:
        raise InvalidInput(
            f"The filter {text!r} names {name!r}; the axes are {', '.join(point)}.{nearest(name, point)}"
        )
    return point[name]
