"""The charts of a page, as data."""

import json
import re


def charts(page):
    """The charts by name: specification, columns, names."""
    data = r'<script type="application/json">(.*?)</script>'
    found = re.findall(rf'<figure class="chart[^>]*>.*?{data}', page, re.DOTALL)
    return {one["name"]: one for one in map(json.loads, found)}


def rows(chart):
    """The data of a chart, a dictionary for each row."""
    names = list(chart["columns"])
    return [
        dict(zip(names, row, strict=True)) for row in zip(*chart["columns"].values(), strict=True)
    ]


def addresses(page):
    """Whatever a page could load: its own runtime names addresses, but has no way to reach one."""
    body = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    return re.findall(r"https?://(?!vega\.github\.io/schema)[^\s\"'<]+|(?:src|href)=|url\(|@import",
                      body)  # fmt: skip
