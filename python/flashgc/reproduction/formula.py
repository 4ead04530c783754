"""Named values calculated from a report: keys, numbers, `+ - * /` and brackets."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Formula:
    """Such as `100 * gc.valid_per_victim / config.device.pages_per_block`; else a ValueError.

    >>> from flashgc.reproduction.formula import Formula
    >>> Formula("100 * gc.moved / gc.count").of({"gc": {"moved": 3, "count": 4}})
    75.0
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._wrong()
        self._check(self._tree)

    def of(self, report: Mapping[str, Any]) -> float | None:
        """The value for a report; None where it is undefined, or the report has no such key."""
        return _value(self._tree, report)

    def reads(self) -> list[str]:
        """The keys of the report that it reads."""
        nodes = [
            node for node in ast.walk(self._tree) if isinstance(node, ast.Attribute | ast.Name)
        ]
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        return [".".join(_path(node)) for node in nodes if id(node) not in inner]

    def _check(self, node: ast.expr) -> None:
        match node:
            case ast.BinOp(left, operation, right) if type(operation) in _OPERATIONS:
                self._check(left)
                self._check(right)
            case ast.Constant(value) if type(value) in (int, float):
                pass
            case ast.Name() | ast.Attribute() if _path(node):
                pass
            case _:
                self._wrong()

    def _wrong(self) -> None:
        raise ValueError(
            f"`{self.text}` is not a formula\n"
            "  = help: a key of the report such as gc.busy_ns, numbers, + - * / and brackets"
        )


def _path(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(name):
            return [name]
        case ast.Attribute(inner, name) if _path(inner):
            return [*_path(inner), name]
    return []


def _value(node: ast.expr, report: Mapping[str, Any]) -> float | None:
    match node:
        case ast.Constant(value):
            return float(str(value))
        case ast.BinOp(left, operation, right):
            first, second = _value(left, report), _value(right, report)
            if first is None or second is None:
                return None
            if isinstance(operation, ast.Div) and second == 0:
                return None
            return _OPERATIONS[type(operation)](first, second)
    found: Any = report
    for name in _path(node):
        found = found.get(name) if isinstance(found, Mapping) else None
    number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if number else None
