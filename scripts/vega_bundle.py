"""Makes python/flashgc/charts/vega.js, the runtime of the charts, from vl-convert.

The licences at its head stay as they are; --check compares instead of writing.
"""

import sys
from pathlib import Path

import vl_convert

BUNDLE = Path(__file__).parents[1] / "python" / "flashgc" / "charts" / "vega.js"
_END = "\n*/\n"


def made() -> str:
    """The licences of the file in place, and the code of the installed vl-convert."""
    licences, end, _ = BUNDLE.read_text("utf-8").partition(_END)
    return f"{licences}{end}{vl_convert.javascript_bundle()}\n"


def main() -> int:
    if "--check" in sys.argv[1:]:
        return 0 if BUNDLE.read_text("utf-8") == made() else 1
    BUNDLE.write_text(made(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
