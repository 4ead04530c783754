"""The commands as Typer has them, with help texts of any width, and begun without delay.

No name of an option is cut, and no line of a pipe ends in blanks. Of the commands only the one that
is called is made, and no value is converted that needs no conversion.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import re
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

BOXES_WIDTH = 80
"""Columns below which the boxes of a terminal would cut names."""

Function = TypeVar("Function", bound=Callable[..., Any])

_MARKUP = re.compile(r"\[/?(?:dim|bold)?\]")


class _Unconverted:
    """Values that are what they should be already; all others are converted by Typer.

    Typer converts by Pydantic, whose import takes a third of the time to start a command.
    """

    def __init__(self, build: Callable[[], Any], kind: Any) -> None:  # noqa: ANN401 - Typer's own
        self.build = build
        self.annotation, self.info = kind.annotation, kind.parameter_info
        self.is_path = kind.is_path or kind.annotation == list[Path]
        self.is_plain = kind.parameter_info.parser is None and not kind.is_path

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self.is_path and "" in (value if isinstance(value, list | tuple) else [value]):
            # It would be the present folder, as often where a variable of a shell is not set.
            raise typer.BadParameter("the name is empty; give one", ctx=ctx, param=param)
        if self.is_plain and type(value) is self.annotation:
            return value
        if self.is_plain and self.annotation == list[str] and isinstance(value, list | tuple):
            return list(value)
        try:
            return self.build().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter:
            allowed = self._allowed()
            if allowed is None:
                raise
            given = " ".join(map(str, value)) if isinstance(value, list | tuple) else value
            said = f"must be {allowed}, got {given}"
            raise typer.BadParameter(said, ctx=ctx, param=param) from None

    def _allowed(self) -> str | None:
        """The values of a number or of a word of a list; None for other kinds."""
        kind, info = self.annotation, self.info
        if get_origin(kind) is list:
            [kind] = get_args(kind)
        if kind in (int, float):
            low, high = (getattr(info, end, None) for end in ("min", "max"))
            above = "" if low is None else f" from {low}"
            name = "a whole number" if kind is int else "a number"
            return f"{name}{above}{'' if high is None else f' to {high}'}"
        if isinstance(kind, type) and issubclass(kind, Enum):
            *first, last = (str(one.value) for one in kind)
            return f"{', '.join(first)} or {last}" if first else last
        return None


def _spare_conversion(param: Any) -> None:  # noqa: ANN401 - Typer's own
    build = getattr(param, "get_runtime_param", None)
    kind = getattr(param, "type_descriptor", None)
    if build is None or kind is None or isinstance(build, functools.partial):
        return  # another version of Typer, or done before
    unconverted = _Unconverted(build, kind)
    param.get_runtime_param = functools.partial(lambda: unconverted)


class _Params:
    """A flag takes no value, so its help names no type."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer's own
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.display_type_rich = lambda ctx: None
            _spare_conversion(param)
        return params


class _Command(_Params, TyperCommand):
    def get_short_help_str(self, limit: int = 0) -> str:
        return super().get_short_help_str(limit=1000)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        epilog = self.epilog
        self.epilog = "\n\n".join([*filter(None, [epilog]), *_others(ctx)])
        try:
            _format(self, super().format_help, ctx, formatter)
        finally:
            self.epilog = epilog


def _others(ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
    """The other commands of a group of which `run` needs no name: its help is that of `run`."""
    group = ctx.parent.command if ctx.parent is not None else None
    if not isinstance(group, _DefaultGroup) or ctx.info_name != "run":
        return []
    commands = ((name, one) for name, one in group.commands.items() if name != "run")
    path = ctx.parent.command_path
    return [f"[dim]Command:[/dim]  {path} {name}  {one.get_short_help_str()}"
            for name, one in commands]  # fmt: skip


class _Group(_Params, TyperGroup):
    command_class = _Command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        # Typer prints the help of a group without arguments on a terminal alone.
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            text = ctx.get_help()
            if text.strip():
                print(text)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def get_short_help_str(self, limit: int = 0) -> str:
        return super().get_short_help_str(limit=1000)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        _format(self, super().format_help, ctx, formatter)


class _DefaultGroup(_Group):
    """Commands of which `run` needs no name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        named = args[:1] and args[0] in self.commands
        return super().parse_args(ctx, args if named or not args else ["run", *args])


class App(typer.Typer):
    """Commands with these help texts; with `runs` the command `run` needs no name."""

    def __init__(self, runs: bool = False, **more: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(cls=_DefaultGroup if runs else _Group, **more)

    def only(self, words: Sequence[str]) -> App:
        """A copy with no other command than the one that these words begin with."""
        name = next(iter(words), None)
        commands = [one for one in self.registered_commands if _name(one) == name]
        groups = [one for one in self.registered_groups if one.name == name]
        if not commands and not groups:
            return self
        own = copy.copy(self)
        own.registered_commands, own.registered_groups = commands, groups
        return own

    def command(
        self,
        name: str | None = None,
        **more: Any,  # noqa: ANN401 - Typer's own
    ) -> Callable[[Function], Function]:
        """As Typer's."""
        return super().command(name, cls=_Command, **more)


def _name(command: Any) -> str:  # noqa: ANN401 - Typer's own
    name: str = command.name or command.callback.__name__.replace("_", "-")
    return name


def _format(command: Any, boxes: Any, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
    from flashgc.cli import show

    if show.width() < BOXES_WIDTH:
        mode, epilog = command.rich_markup_mode, command.epilog
        command.rich_markup_mode = None
        command.epilog = _MARKUP.sub("", epilog or "")
        formatter.width = show.width() - 1
        try:
            boxes(ctx, formatter)
        finally:
            command.rich_markup_mode, command.epilog = mode, epilog
        text = "".join(formatter.buffer).replace("\\[", "[")
        formatter.buffer = [_stripped(text)]
    elif sys.stdout.isatty():
        boxes(ctx, formatter)
    else:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            boxes(ctx, formatter)
        formatter.write(_stripped(printed.getvalue()))


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())
