"""The reference of the package as plain Markdown, read from its source.

Each name is a heading with an anchor, followed by its signature and its docstring.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import docstrings
import griffe

LONGEST = 80
"""The most characters of a signature in one line."""


def load(python: Path) -> griffe.Object:
    """The package, which is read and not imported."""
    return final(griffe.load("flashgc", search_paths=[python], docstring_parser="google"))


def final(member: griffe.Object | griffe.Alias | griffe.Module) -> griffe.Object:
    """The object itself, where this is its name in another module."""
    return member.final_target if isinstance(member, griffe.Alias) else member


def shown(owner: griffe.Object, *, inherited: bool) -> Iterator[str]:
    """The members with a docstring that are not private: those of parents, then the own ones."""
    found = dict(owner.inherited_members) if inherited else {}
    for name, member in (found | dict(owner.members)).items():
        if name.startswith("_") or (member.is_alias and name in owner.members):
            continue
        target = final(member)
        if target.docstring is not None and not target.is_module:
            yield name


def signature(name: str, obj: griffe.Object) -> str:
    """The declaration of a function, a class or an attribute, as Python writes it."""
    if isinstance(obj, griffe.Attribute):
        return f"{name}: {kind}" if (kind := docstrings.kind(obj.annotation)) else name
    if not isinstance(obj, griffe.Function | griffe.Class):
        return name
    returned = docstrings.kind(obj.returns) if isinstance(obj, griffe.Function) else ""
    returns = f" -> {returned}" if returned else ""
    parts = list(_parameters(obj.parameters))
    line = f"{name}({', '.join(parts)}){returns}"
    if len(line) <= LONGEST:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returns}"])


def _parameters(parameters: griffe.Parameters) -> Iterator[str]:
    kinds = griffe.ParameterKind
    starred = False
    for at, one in enumerate(parameters):
        if at == 0 and one.name in ("self", "cls"):
            continue
        if one.kind is kinds.keyword_only and not starred:
            starred = True
            yield "*"
        starred = starred or one.kind is kinds.var_positional
        star = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(one.kind, "")
        kind = docstrings.kind(one.annotation)
        text = star + one.name + (f": {kind}" if kind else "")
        if one.default is not None and not star:
            text += f" = {one.default}" if kind else f"={one.default}"
        yield text


class Reference:
    """Which page has which name, and the Markdown of each."""

    def __init__(
        self, python: Path, pages: dict[str, tuple[str, ...]], inherited: set[str]
    ) -> None:
        """`pages` has the names of each page; members of parents are shown for `inherited`."""
        self.package = load(python)
        self.inherited = inherited
        self.places = {f"flashgc.{inner}": page for page, names in pages.items()
                       for name in names for inner in self.within(name)}  # fmt: skip

    def within(self, name: str) -> Iterator[str]:
        """A name, and all members below it that have a heading."""
        yield name
        obj = final(self.package[name])
        if isinstance(obj, griffe.Class | griffe.Module):
            for member in shown(obj, inherited=name in self.inherited):
                yield from self.within(f"{name}.{member}")

    def markdown(self, name: str) -> str:
        """An offered name with its members."""
        return "\n\n".join(part for inner in self.within(name) for part in self.parts(inner))

    def parts(self, name: str) -> Iterator[str]:
        """The heading of a name, with its signature and its docstring."""
        obj = final(self.package[name])
        owner, _, last = name.rpartition(".")
        if obj.is_module:
            yield f'<a id="flashgc.{name}"></a>'
        elif not owner:
            yield f"## flashgc.{name} {{ #flashgc.{name} }}"
        else:
            level = "##" if final(self.package[owner]).is_module else "###"
            yield f"{level} {last} {{ #flashgc.{name} }}"
        init = obj.members.get("__init__")
        if isinstance(obj, griffe.Class):
            has_signature = init is not None or bool(len(obj.parameters))
        else:
            has_signature = not obj.is_module
        if has_signature:
            yield f"```python\n{signature(last, obj)}\n```"
        for docstring in (obj.docstring, init.docstring if init is not None else None):
            for part in docstrings.sections(docstring) if docstring is not None else ():
                yield docstrings.linked(part, lambda role: self.address(role, name))

    def address(self, role: str, name: str) -> str | None:
        """The address of what a docstring of this name calls `role`: the nearest of that name."""
        bare = role.removeprefix("flashgc.")
        page = self.places[f"flashgc.{name}"]
        owner = f"flashgc.{name}"
        while owner:
            full = f"{owner}.{bare}"
            if full in self.places:
                other = self.places[full]
                return f"#{full}" if other == page else f"{other}.md#{full}"
            owner = owner.rpartition(".")[0]
        return None
