"""Mutation testing: one small change of a module at a time, which a test must notice: python scripts/mutate.py

    make coverage                                       which tests run which lines, and how long each takes
    python scripts/mutate.py [FILE ...] [--every N]     such as labels.py or model; default: all of PARTS below

Changes: a comparison, an arithmetic or boolean operator, a number, a truth value, not, a returned value. For each, the
tests that run its line, the quick ones first, in a fork that imports pine anew with the changed source; tests that take
far longer than without the change count as failed. Prints survivors, and the share that was killed. What became of each
is kept in build/mutants.txt: kills are not tried again until their file changes, survivors only without --new. The
order is drawn at random, so that a run which was stopped has tried a sample.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import hashlib
import importlib.abc
import importlib.util
import math
import os
import random
import re
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
COVERED, TIMED, KEPT = ROOT / ".coverage", ROOT / "build" / "tests.xml", ROOT / "build" / "mutants.txt"
LIBRARIES = (
    "numpy scipy.sparse scipy.stats torch pyarrow.parquet numba pandas sklearn.linear_model networkx "
    "torch_geometric.data hypothesis.strategies safetensors.torch typer rich matplotlib.pyplot pytest"
)
OPTIONS = ["-xq", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins of pytest are among the libraries
OPTIONS += ["-W", "ignore::numba.core.errors.NumbaWarning"]  # loops that are not optimized are not kept
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
UNFIT = {  # tests that fail here without a change
    # Of compiled loops that are not optimized.
    "tests/nn/test_hidden_layer.py::test_single_precision_is_exact_to_rounding_and_keeps_what_is_no_number",
    # PyTorch Geometric reads the source of a layer.
    "tests/nn/test_pyg_layers.py::test_the_flow_may_be_turned_around",
}
COMPILED = re.compile("^@(compiled|vectorized)", re.MULTILINE)
UNREAD = ("annotation", "returns", "decorator_list")
UNCHANGED = -1  # the number of no change
KILLED, SURVIVED = "killed", "survived"
LONGER, MORE = 5.0, 60.0  # times what the tests took, and seconds for what is compiled


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
    fit = frozenset(seconds()) - UNFIT
    found = {line: fit.intersection(tests) for line, tests in lines.items()}
    return found | {0: frozenset().union(*found.values())}


@cache
def lines_of_functions(file: str) -> frozenset[int]:
    """The lines that run when a function is called."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    bodies: list[ast.AST] = []
    for each in ast.walk(ast.parse(_text(file))):
        if isinstance(each, kinds):
            bodies += each.body if isinstance(each.body, list) else [each.body]
    return frozenset(line for body in bodies for line in range(body.lineno, (body.end_lineno or 0) + 1))  # type: ignore[attr-defined]


def tests_for(file: str, line: int, most: float) -> tuple[str, ...]:
    """Those that run a line, or where none does (a compiled loop) its file; the quick ones first.

    What an import runs (a constant, a default) belongs to all tests of the file, not to the one that came first.
    most: seconds that they may take together, by the times that they took.
    """
    by_line = tests_of_lines(file)
    names = (by_line.get(line) if line in lines_of_functions(file) else None) or by_line[0]
    chosen: list[str] = []
    left = most
    for name in sorted(names, key=lambda name: (seconds()[name], name)):
        left -= seconds()[name]
        if left < 0 and chosen:
            break
        chosen.append(name)
    return tuple(chosen)


def mutant(file: str, number: int, most: float) -> Mutant:
    """The change of a number, or the file as it is, whose tests must pass."""
    text = _text(file)
    if number == UNCHANGED:
        return Mutant(file, UNCHANGED, 0, "as it is", ast.unparse(ast.parse(text)), tests_for(file, 0, most))
    change = Change(number)
    source = ast.unparse(ast.fix_missing_locations(change.visit(ast.parse(text))))
    return Mutant(file, number, change.line, change.text, source, tests_for(file, change.line, most))


def count(file: str) -> int:
    """How many changes a file has."""
    change = Change(10**9)
    change.visit(ast.parse(_text(file)))
    return 10**9 - change.left


@cache
def _text(file: str) -> str:
    return (SOURCE / file).read_text(encoding="utf-8")


def start(mutant: Mutant, folder: str) -> int:
    """The number of the process that runs a mutant's tests."""
    child = os.fork()
    if child:
        return child
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        os.setsid()
        import pytest

        module = "pine." + mutant.file.removesuffix(".py").replace("/", ".")
        # Compiled loops are kept beside their source. Those of other files that call a changed one, and so have it in
        # them, are compiled anew.
        place = Path(folder, f"{mutant.key}.py")
        if COMPILED.search(mutant.source):
            importlib.import_module("numba.core.config").CACHE_DIR = str(place.with_suffix(""))  # type: ignore[attr-defined]
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
    parser.add_argument("--seconds", type=float, default=30, help="of tests for one mutant")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no more are begun")
    parser.add_argument("--new", action="store_true", help="no survivors of earlier runs")
    parser.add_argument("--seed", type=int, default=0, help="of the order; another draws another sample")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["NUMBA_OPT"] = "0"  # changed loops are compiled anew, and run for a moment
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    for library in LIBRARIES.split():
        importlib.import_module(library)
    end = time.monotonic() + 60 * options.minutes
    kept = dict(line.split() for line in KEPT.read_text().splitlines()) if KEPT.exists() else {}
    numbered = [(file, number) for file in files(options.files) for number in range(0, count(file), options.every)]
    random.Random(options.seed).shuffle(numbered)
    tried: dict[str, int] = defaultdict(int)
    survivors: dict[str, int] = defaultdict(int)
    broken: set[str] = set()

    def outcome(mutant: Mutant, lived: bool) -> None:
        tried[mutant.file] += 1
        survivors[mutant.file] += lived
        if lived:
            place = f"{mutant.file}:{mutant.line}: #{mutant.number}"
            print(f"{place} {mutant.text}  ({len(mutant.tests)} tests)", flush=True)

    def keep(mutant: Mutant, what: str) -> None:
        with KEPT.open("a") as file:
            file.write(f"{mutant.key} {what}\n")

    @cache
    def passes_unchanged(file: str) -> bool:
        """Whether its tests do; others may run meanwhile."""
        one = mutant(file, UNCHANGED, options.seconds)
        if not one.tests or one.key in kept:
            return True
        ((_, fails),) = killed(iter([one]), 1)
        if fails:
            broken.add(file)
            print(f"{file}: its tests fail without a change, so it is left out", flush=True)
        else:
            keep(one, KILLED)
        return not fails

    def left() -> Iterator[Mutant]:
        for each in numbered:
            if time.monotonic() > end:
                return
            if not passes_unchanged(each[0]):
                continue
            one = mutant(*each, options.seconds)
            before = kept.get(one.key)
            if before is None or (before == SURVIVED and not options.new):
                yield one
            else:
                outcome(one, before == SURVIVED)

    for one, is_killed in killed(left(), options.processes):
        keep(one, KILLED if is_killed else SURVIVED)
        outcome(one, not is_killed)
    print("\n| part | changes | killed |\n|---|---:|---:|")
    parts = defaultdict(list)
    for name in tried:
        parts[name.partition("/")[0]].append(name)
    for part, names in {**parts, "**all**": list(tried)}.items():
        number, lived = sum(tried[name] for name in names), sum(survivors[name] for name in names)
        print(f"| {part} | {number:,} | {(number - lived) / max(1, number):.1%} |")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
