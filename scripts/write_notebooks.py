"""Run the notebooks of docs/notebooks, and keep what they print and draw.

python scripts/write_notebooks.py [NAME ...]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run(path: Path) -> nbformat.NotebookNode:
    """A notebook after its run in a folder of its own; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    return notebook


def without_traces(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without times and versions, so that a run on the same machine gives the same file."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    output.data = {"image/png": output.data["image/png"]}
    return notebook


def main() -> None:
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            nbformat.write(without_traces(run(path)), path)


if __name__ == "__main__":
    main()
