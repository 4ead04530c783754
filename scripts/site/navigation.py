"""The navigation of the site: the entries of mkdocs.yml, with each folder as its pages.

The order of a folder's pages is the order in which its README lists them.
"""

from __future__ import annotations

import re
from typing import Any

from pages import LINK, named

MARKS = re.compile(r"[`*]")


def listed(folder: str, pages: dict[str, str]) -> list[str]:
    """The pages of a folder: its index, the pages that this links to, in order, then the rest."""
    inside = [name for name in pages if name.startswith(folder) and name.count("/") == 1]
    head = f"{folder}index.md"
    if head not in inside:
        return sorted(inside)
    order = [head]
    for match in LINK.finditer(pages[head]):
        name = folder + match.group(2).removeprefix("../" + folder)
        if name in inside and name not in order:
            order.append(name)
    return order + sorted(set(inside) - set(order))


def title(page: str) -> str:
    """The title of a page, from its first heading."""
    head = next(line for line in page.splitlines() if line.startswith("# "))
    return MARKS.sub("", LINK.sub(r"\1", head.removeprefix("# "))).strip()


def expanded(entry: Any, pages: dict[str, str]) -> Any:  # noqa: ANN401 - what YAML gives
    """An entry of the navigation with folders as their pages, and every page with its title."""
    if isinstance(entry, list):
        return [expanded(inner, pages) for inner in entry]
    if isinstance(entry, dict):
        return {name: named(inner) if isinstance(inner, str) and not inner.endswith("/")
                else expanded(inner, pages) for name, inner in entry.items()}  # fmt: skip
    if entry.endswith("/"):
        # The index of a folder has the folder's title.
        head, *others = listed(entry, pages)
        return [head, *({title(pages[name]): name} for name in others)]
    name = named(entry)
    return {title(pages[name]): name}
