"""Notebooks of the manual: how they are run, and the part of their outputs that is kept."""

import base64
import json
import re
from pathlib import Path

import vl_convert

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_VEGA_LITE = "application/vnd.vegalite.v5+json"
_PICTURE = "image/png"


def run(path, folder):
    """The notebook with the outputs of a run in this folder."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    places = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=places).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            output.pop("metadata", None)
            if output.output_type in ("display_data", "execute_result"):
                output["metadata"] = {}
                _keep(output.data)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _keep(data):
    """The picture of a chart; of other outputs the text, which is enough on every host."""
    spec = data.get(_VEGA_LITE)
    if spec is not None:
        picture = vl_convert.vegalite_to_png(json.dumps(spec), vl_version="6.4", scale=1.5)
        data[_PICTURE] = base64.b64encode(picture).decode()
    for kind in [kind for kind in data if kind not in ("text/plain", _PICTURE)]:
        del data[kind]


def texts(notebook):
    """The output of each code cell, charts by their name."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        parts = []
        for output in cell["outputs"]:
            text = output.get("text") or output.get("data", {}).get("text/plain") or ""
            parts.append("".join(text))
        # An object without a name of its own has its address.
        found.append(re.sub(r" at 0x[0-9a-f]+", "", "".join(parts)))
    return found


def write(notebook, path):
    """The notebook as a file with one line for each line of its cells."""
    import nbformat

    path.write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")


def read(path):
    """The notebook as data."""
    return json.loads(path.read_text(encoding="utf-8"))
