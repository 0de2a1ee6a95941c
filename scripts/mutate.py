"""Mutation testing: one small change of a module at a time, which a test must notice: python scripts/mutate.py

    make coverage                                       which tests run which lines, and how long each takes
    python scripts/mutate.py [FILE ...] [--every N]     such as labels.py or model; default: all of PARTS below

Changes: a comparison, an arithmetic or boolean operator, a number, a truth value, not, a returned value. For each, the
tests that run its line, the quick ones first, in a fork that imports pine anew with the changed source; tests that take
far longer than without the change count as failed. Prints survivors, and the share that was killed. Kills are kept in
build/killed.txt and not tried again until their file changes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import hashlib
import importlib.abc
import importlib.util
import os
import signal
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pine"
PARTS = ["nn", "model", "graph", "evaluation", "labels.py", "metrics.py", "propagation.py"]
WITHOUT = "triton"  # kernels that need a GPU
COVERED, TIMED, KEPT = ROOT / ".coverage", ROOT / "build" / "tests.xml", ROOT / "build" / "killed.txt"
LIBRARIES = (
    "numpy scipy.sparse scipy.stats torch pyarrow.parquet numba pandas sklearn.linear_model networkx "
    "torch_geometric.data hypothesis.strategies safetensors.torch typer rich matplotlib.pyplot pytest"
)
OPTIONS = ["-xq", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins of pytest are among the libraries
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SECONDS = 30.0  # of tests for one mutant, by the times that they took
UNREAD = ("annotation", "returns", "decorator_list")
UNCHANGED = -1  # the number of no change
LONGER, MORE = 5.0, 30.0  # times what the tests took, and seconds for what is compiled


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may become."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op, *rest]) if type(op) in COMPARED:
            new.ops = [COMPARED[type(op)](), *rest]
            yield new
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            new.op = COMPUTED[type(op)]()
            yield new
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            new.value = not value
            yield new
        case ast.Constant(value=int() | float() as value):
            new.value = value + 1
            yield new
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            new.value = ast.Constant(None)
            yield new


class Change(ast.NodeTransformer):
    """Makes the change of a number; what nothing reads stays as it is."""

    def __init__(self, number: int) -> None:
        self.left, self.line, self.text = number, 0, ""

    def visit(self, node: ast.AST) -> Any:
        for new in () if self.text else changes(node):
            if self.left == 0:
                self.line, self.text = node.lineno, f"{ast.unparse(node)}  ->  {ast.unparse(new)}"  # type: ignore[attr-defined]
                return ast.copy_location(new, node)
            self.left -= 1
        for name, value in ast.iter_fields(node):
            # Annotations, whether a data class is frozen, and checks of our own that lengths are equal.
            if name in UNREAD or (isinstance(node, ast.keyword) and node.arg == "strict"):
                continue
            if isinstance(value, list):
                value[:] = [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Gives one module from changed code; a plugin of pytest, whose own finder would come first."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def pytest_load_initial_conftests(self) -> None:
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self, origin="mutant") if name == self.name else None

    def get_source(self, name: str) -> str | None:
        return None

    def get_code(self, name: str) -> CodeType:
        return self.code


@dataclass(frozen=True)
class Mutant:
    """One change of a file: its number, where and what it is, the changed source, and the tests for it."""

    file: str
    number: int
    line: int
    text: str
    source: str
    tests: tuple[str, ...]

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.file}\n{self.source}".encode()).hexdigest()


@cache
def seconds() -> dict[str, float]:
    """What each test function took, all of its cases together."""
    took: dict[str, float] = defaultdict(float)
    for case in ET.parse(TIMED).getroot().iter("testcase"):
        place = case.attrib["classname"].replace(".", "/")
        took[f"{place}.py::{case.attrib['name'].split('[')[0]}"] += float(case.attrib["time"])
    return took


@cache
def tests_of_lines(file: str) -> dict[int, frozenset[str]]:
    """The test functions that run each line of a file; under 0, those that run any."""
    from coverage import CoverageData

    data = CoverageData(str(COVERED))
    data.read()
    lines = data.contexts_by_lineno(str(SOURCE / file))
    found = {line: frozenset(each for each in tests if each in seconds()) for line, tests in lines.items()}
    return found | {0: frozenset().union(*found.values())}


def tests_for(file: str, line: int) -> tuple[str, ...]:
    """Those that run a line, or where none does (a constant, a compiled loop) its file; the quick ones first."""
    by_line = tests_of_lines(file)
    names = by_line.get(line) or by_line[0]
    chosen: list[str] = []
    left = SECONDS
    for name in sorted(names, key=lambda name: (seconds()[name], name)):
        left -= seconds()[name]
        if left < 0 and chosen:
            break
        chosen.append(name)
    return tuple(chosen)


def mutants(file: str, every: int) -> Iterator[Mutant]:
    """One for each change; before them the file as it is, whose tests must pass."""
    text = (SOURCE / file).read_text(encoding="utf-8")
    yield Mutant(file, UNCHANGED, 0, "as it is", ast.unparse(ast.parse(text)), tests_for(file, 0))
    for number in range(0, 10**6, every):
        change = Change(number)
        tree = change.visit(ast.parse(text))
        if not change.text:
            return
        source = ast.unparse(ast.fix_missing_locations(tree))
        yield Mutant(file, number, change.line, change.text, source, tests_for(file, change.line))


def start(mutant: Mutant, folder: str) -> int:
    """The number of the process that runs a mutant's tests."""
    child = os.fork()
    if child:
        return child
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        os.setsid()
        import pytest

        module = "pine." + mutant.file.removesuffix(".py").replace("/", ".")
        # Compiled loops are kept beside their source.
        place = Path(folder, f"{mutant.key}.py")
        place.write_text(mutant.source, encoding="utf-8")
        mutated = Mutated(module.removesuffix(".__init__"), compile(mutant.source, str(place), "exec"))
        try:
            end = int(pytest.main([*mutant.tests, *OPTIONS], [mutated]))
        except BaseException:
            end = 1
    os._exit(end)


def killed(all_of_them: Iterator[Mutant], processes: int) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant, and whether a test failed."""
    running: dict[int, tuple[Mutant, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while True:
            while len(running) < processes and (mutant := next(all_of_them, None)) is not None:
                if not mutant.tests:
                    yield mutant, False
                    continue
                until = time.monotonic() + MORE + LONGER * sum(seconds()[name] for name in mutant.tests)
                running[start(mutant, folder)] = mutant, until
            if not running:
                return
            for child, (mutant, until) in list(running.items()):
                if time.monotonic() > until:
                    os.killpg(child, signal.SIGKILL)
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    del running[child]
                    yield mutant, os.waitstatus_to_exitcode(status) != 0
            time.sleep(0.02)


def files(asked: Sequence[str]) -> list[str]:
    """Of a folder, all its files."""
    paths = [SOURCE / each for each in asked]
    every = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    return sorted(str(file.relative_to(SOURCE)) for file in every if WITHOUT not in file.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=PARTS)
    parser.add_argument("--every", type=int, default=1, help="of the mutants, each N-th alone")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["NUMBA_OPT"] = "0"  # changed loops are compiled anew, and run for a moment
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    for library in LIBRARIES.split():
        importlib.import_module(library)
    kept = set(KEPT.read_text().split()) if KEPT.exists() else set()
    tried: dict[str, int] = defaultdict(int)
    survivors: dict[str, int] = defaultdict(int)

    def left() -> Iterator[Mutant]:
        for file in files(options.files):
            for mutant in mutants(file, options.every):
                tried[file] += mutant.number != UNCHANGED
                if mutant.key not in kept:
                    yield mutant

    with KEPT.open("a") as file:
        for mutant, is_killed in killed(left(), options.processes):
            if mutant.number == UNCHANGED and is_killed and mutant.tests:
                sys.exit(f"{mutant.file}: its tests fail without a change")
            if is_killed or mutant.number == UNCHANGED:
                file.write(f"{mutant.key}\n")
                file.flush()
            else:
                survivors[mutant.file] += 1
                print(f"{mutant.file}:{mutant.line}: {mutant.text}  ({len(mutant.tests)} tests)", flush=True)
    print("\n| part | changes | killed |\n|---|---:|---:|")
    parts = defaultdict(list)
    for name in tried:
        parts[name.partition("/")[0]].append(name)
    for part, names in {**parts, "**all**": list(tried)}.items():
        count, lived = sum(tried[name] for name in names), sum(survivors[name] for name in names)
        print(f"| {part} | {count:,} | {(count - lived) / max(1, count):.1%} |")


if __name__ == "__main__":
    main()
