"""The command line as a whole: help, version, start, and a reader that stops reading."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.command_line import pine_process as pine

from pine import __version__


def test_help_and_version_are_there():
    assert f"pine {__version__}" in pine("--version").stdout
    shown = pine("--help").stdout
    for command in ("demo", "train", "embed", "neighbors", "export", "evaluate", "reproduce", "datasets"):
        assert command in shown
        assert pine(command, "--help").returncode == 0


def test_a_reader_that_stops_reading_is_no_error():
    done = subprocess.run(f"{sys.executable} -m pine datasets | head -n 2", shell=True, capture_output=True, text=True)
    assert "Traceback" not in done.stderr


def test_import_is_quick_and_needs_no_extra(tmp_path: Path):
    code = textwrap.dedent(
        """
        import sys, time  # the processor's time: other programs may be running
        class NoExtras:
            def find_spec(self, name, *_):
                if name.split(".")[0] in ("pandas", "polars", "networkx", "torch_geometric"):
                    raise ImportError(name)
        sys.meta_path.insert(0, NoExtras())
        start = time.process_time()
        import pine
        pine.Graph, pine.datasets
        print(time.process_time() - start)
        pine.METHODS["label-propagation"]().fit(pine.Graph.from_edges([("a", "b")]), ["x", "y"])
        """
    )
    seconds = []
    for _ in range(2):  # the first may compile bytecode
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        seconds.append(float(done.stdout))
    assert min(seconds) < 3


@pytest.mark.parametrize(
    ("code", "packages"),
    [
        ("import pine", "torch sklearn torch_geometric numba scipy pyarrow"),
        ("import pine.cli", "torch sklearn torch_geometric numba scipy pyarrow"),
        ("import pine; pine.Graph, pine.datasets", "torch sklearn torch_geometric"),
        ("import pine; pine.METHODS, pine.evaluation, pine.reproduce", "torch_geometric"),
    ],
)
def test_slow_packages_are_loaded_by_what_needs_them_and_by_nothing_else(code: str, packages: str):
    code = f"{code}; import sys; print(*set({packages.split()}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_the_version_stands_in_one_place():
    root = Path(__file__).parents[2]
    assert __version__ not in (root / "pyproject.toml").read_text().split("[tool.ruff]")[0].split("dependencies")[0]
