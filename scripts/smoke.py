"""Is PINE whole where it is installed? Every public name, the command line, and a run of a small graph.

    python scripts/smoke.py            # with the Python of the environment to be tested, outside the checkout

It needs nothing but PINE and what PINE brings along, and uses no network. Prints one line; a failure is an error.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import pine


def run(folder: Path, *words: str) -> str:
    """What `pine WORDS` prints."""
    command = [sys.executable, "-m", "pine", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"pine {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_names() -> int:
    """Load every public name, and those of the public modules; the number of names."""
    modules = [getattr(pine, name) for name in ("datasets", "evaluation", "io", "model", "nn", "plots", "reproduce")]
    needs_pyg = {"PINEAggregation", "PINEConv"}
    names = [(pine, name) for name in pine.__all__]
    names += [(module, name) for module in modules for name in getattr(module, "__all__", ()) if name not in needs_pyg]
    for owner, name in names:
        getattr(owner, name)
    return len(names)


def check_data_files() -> None:
    """The files in the package that are no code."""
    folder = Path(pine.__file__).parent
    for pattern in ("py.typed", "datasets/*.npz", "reproduce/experiments/*.toml", "explore/page/*.js"):
        assert list(folder.glob(pattern)), f"{pattern} is missing in {folder}"


def check_commands(folder: Path) -> None:
    """Train, predict and explore on a ring of two halves, and run the demo."""
    assert run(folder, "--version").split()[-1] == pine.__version__
    with (folder / "edges.csv").open("w", newline="") as file:
        near = [(i, (i + step) % 20) for i in range(20) for step in (1, 2)]
        csv.writer(file).writerows([("source", "target"), *((f"v{a}", f"v{b}") for a, b in near)])
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "half"), *((f"v{i}", "low" if i < 10 else "high") for i in range(0, 20, 2))])
    run(folder, "train", "edges.csv", "--labels", "labels.csv", "--out", "run", "--dim", "8", "--epochs", "10")
    run(folder, "predict", "run", "--unlabeled", "--out", "predicted.csv")
    assert len((folder / "predicted.csv").read_text().splitlines()) == 11
    run(folder, "explore", "run", "--html", "page.html")
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    run(folder, "demo", "--out", "demo")
    assert list((folder / "demo").iterdir())


def main() -> None:
    names = check_names()
    check_data_files()
    with tempfile.TemporaryDirectory() as folder:
        check_commands(Path(folder))
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"pine {pine.__version__} on Python {python}: {names} names, train, predict, explore and demo work")


if __name__ == "__main__":
    main()
