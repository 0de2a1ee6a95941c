"""The command line as a whole: help, version, start, and a reader that stops reading."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.command_line import pine as pine_here
from support.command_line import pine_process as pine
from support.command_line import refused

from pine import __version__
from pine.cli import _refuse
from pine.errors import LONGEST_MESSAGE

COMMANDS = (
    "demo",
    "train",
    "predict",
    "embed",
    "neighbors",
    "links",
    "explore",
    "export",
    "evaluate",
    "reproduce",
    "datasets",
)


def test_help_and_version_are_there():
    assert f"pine {__version__}" in pine("--version").stdout
    shown = pine("--help").stdout
    for command in COMMANDS:
        assert command in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_that_parses(command: str):
    shown = pine_here(command, "--help").stdout
    example = re.search(rf"Example: pine {command}\b(.*?)\n\n", shown, re.DOTALL)
    assert example is not None, shown
    words = shlex.split(example.group(1))
    known = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", shown))
    assert {word for word in words if word.startswith("-")} <= known


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["trian"], "Did you mean 'train'?"),
        (["train", "--labls", "x", "--out", "y"], "--labels"),
        (["evaluate", "coar"], "did you mean 'cora'?"),
        (["evaluate", "cora", "--methods", "pnie"], "did you mean 'pine'?"),
        (["evaluate", "cora", "--methods", "pine:droput=0.1"], "did you mean 'dropout'?"),
    ],
)
def test_a_word_that_does_not_exist_is_met_with_the_nearest(words: list[str], offered: str):
    done = pine_here(*words)
    assert done.returncode == 2
    assert offered in done.stderr


def test_words_of_users_are_never_read_as_markup():
    for word in ("[bold]x", ":smile:", "a:b:c"):
        for words in (["evaluate", word], [word], ["neighbors", word, "v"], ["train", word, "--out", "x"]):
            assert word in pine_here(*words).stderr


@pytest.mark.parametrize(
    "words",
    [
        ["x" * 3000],
        ["train", "--" + "x" * 3000],
        ["train", "x" * 5000, "--out", "run"],
        ["train", "e.csv", "--out", "x" * 5000],
        ["train", "e.csv", "--out", "run", "--seed", "-1"],
        ["train", "e.csv", "--out", "run", "--set", "dim=" + "9" * 3000],
        ["train", "e.csv", "--out", "run", "--set", "epochs=" + "9" * 5000],
        ["train", "e.csv", "--out", "run", "--method", "x" * 3000],
        ["train", "e.csv", "--out", "run", "--config", "x" * 3000],
        ["train", "\x1b[31m.csv", "--out", "run"],
        ["train", "\udcff.csv", "--out", "run"],
        ["neighbors", "run", "v", "-k", "x" * 3000],
        ["neighbors", "x" * 3000, "v"],
        ["export", "run", "--out", "x" * 3000 + ".npy"],
        ["evaluate", "x" * 3000],
        ["evaluate", "no such data"],
        ["evaluate", "cora", "--methods", "(" * 3000],
        ["reproduce", "x" * 3000],
    ],
    ids=lambda words: " ".join(words)[:60].encode("ascii", "backslashreplace").decode(),
)
def test_whatever_the_words_they_are_refused_in_one_short_printable_sentence(words: list[str], tmp_path: Path):
    said = refused(pine_here(*words, cwd=tmp_path)).removeprefix("error: ").removesuffix("\n")
    assert len(said) <= LONGEST_MESSAGE
    assert said.isprintable()


def test_no_command_at_all_shows_the_help():
    done = pine_here()
    assert done.returncode == 2
    assert "Usage: " in done.stdout + done.stderr


def test_the_shell_completes_commands_and_options():
    for line, number, expected in (("pine tr", 1, "train"), ("pine train --overw", 2, "--overwrite")):
        variables = {"_PINE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(number)}
        code = "import sys; sys.argv[0] = 'pine'; from pine.cli import app; app(prog_name='pine')"
        environment = os.environ | variables
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )
        assert expected in done.stdout.split(), done.stderr


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
        ("import pine; pine.PINE", "sklearn torch_geometric scipy.optimize scipy.stats pandas matplotlib"),
        ("import pine; pine.METHODS, pine.evaluation, pine.reproduce", "torch_geometric"),
    ],
)
def test_slow_packages_are_loaded_by_what_needs_them_and_by_nothing_else(code: str, packages: str):
    code = f"{code}; import sys; print(*set({packages.split()}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "run"), "run: no space left on device; make room"),
        (OSError(errno.EACCES, "Permission denied", "run"), "run: permission denied; take another place"),
        (OSError("something"), "something"),
    ],
)
def test_what_the_system_refuses_is_said_without_its_number(capsys, problem, words):
    with pytest.raises(SystemExit) as end:
        _refuse(problem)
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(f"error: {words}")


def test_the_version_stands_in_one_place():
    root = Path(__file__).parents[2]
    assert __version__ not in (root / "pyproject.toml").read_text().split("[tool.ruff]")[0].split("dependencies")[0]
