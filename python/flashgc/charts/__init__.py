"""Charts as Vega-Lite specifications: drawn in a page without any network, or saved as figures.

A chart is a dictionary of the specification, and its data. The page that holds it has the runtime
of Vega inside (`vega.js`, which `scripts/vega_bundle.py` makes), so a page needs no package but
flashgc. SVG, PDF and PNG for a paper come from the same chart through vl-convert, which is the
extra `flashgc[figures]`: its wheel is 33 MB.
"""

from flashgc.charts.chart import Chart
from flashgc.charts.embed import OFF, explorer, figures, legend, legends, policy, scripts, style
from flashgc.charts.static import FORMATS, save, writers

__all__ = [
    "FORMATS",
    "OFF",
    "Chart",
    "explorer",
    "figures",
    "legend",
    "legends",
    "policy",
    "save",
    "scripts",
    "style",
    "writers",
]
