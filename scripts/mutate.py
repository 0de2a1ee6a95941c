"""Mutation testing: one small change of a module at a time, and its tests must fail: python scripts/mutate.py

    python scripts/mutate.py [MODULE ...] [--every N]        such as labels.py; default: all of TESTS below

Changes: a comparison, an arithmetic or boolean operator, a number, a truth value, not, a returned value. Libraries are
imported once; each mutant is a fork that imports pine anew with the changed source. Prints survivors, and the share
that was killed; one whose tests take far longer than without the change counts as killed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pine"
TESTS = {
    "labels.py": ["tests/test_labels.py"],
    "metrics.py": ["tests/test_metrics.py"],
    "propagation.py": ["tests/test_propagation.py", "tests/baselines/test_label_propagation.py"],
    "model/held_out.py": ["tests/model/test_held_out.py", "tests/model/test_choice.py"],
    "evaluation/protocol.py": ["tests/evaluation/test_protocol.py"],
    "evaluation/paired_test.py": ["tests/evaluation/test_paired_test.py"],
}
LIBRARIES = "numpy scipy.sparse scipy.stats torch pyarrow numba sklearn.linear_model pytest networkx"
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
LONGER = 5.0  # times what the tests take, and some seconds


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
    """Makes the change of a number; annotations, which nothing reads, stay as they are."""

    def __init__(self, number: int) -> None:
        self.left, self.line, self.text = number, 0, ""

    def visit(self, node: ast.AST) -> Any:
        for new in () if self.text else changes(node):
            if self.left == 0:
                self.line, self.text = node.lineno, f"{ast.unparse(node)}  ->  {ast.unparse(new)}"  # type: ignore[attr-defined]
                return ast.copy_location(new, node)
            self.left -= 1
        for name, value in ast.iter_fields(node):
            # What nothing reads, and checks of our own that lengths are equal.
            if name in ("annotation", "returns") or (isinstance(node, ast.keyword) and node.arg == "strict"):
                continue
            if isinstance(value, list):
                value[:] = [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Gives one module from changed code."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self, origin="mutant") if name == self.name else None

    def get_source(self, name: str) -> str | None:
        return None

    def get_code(self, name: str) -> CodeType:
        return self.code


def passes(module: str, tree: ast.Module, tests: Sequence[str], limit: float) -> bool:
    """Whether the tests pass with a module of this tree."""
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            import pytest

            code = compile(ast.fix_missing_locations(tree), module, "exec")
            sys.meta_path.insert(0, Mutated(module, code))
            end = pytest.main([*tests, "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:faulthandler"])
        os._exit(int(end))
    until = time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def mutate(file: str, every: int) -> tuple[int, int]:
    """Print survivors; how many there are, and of how many mutants."""
    module = "pine." + file.removesuffix(".py").replace("/", ".")
    text, tests = (SOURCE / file).read_text(), [test for test in TESTS[file] if (ROOT / test).exists()]
    begin = time.monotonic()
    if not passes(module, ast.parse(text), tests, 1e9):
        sys.exit(f"{file}: the tests fail without a change: {' '.join(tests)}")
    limit = LONGER * (time.monotonic() - begin) + 5
    survived = tried = 0
    for number in range(0, 10**6, every):
        change = Change(number)
        tree = change.visit(ast.parse(text))
        if not change.text:
            break
        tried += 1
        if passes(module, tree, tests, limit):
            survived += 1
            print(f"{file}:{change.line}: {change.text}", flush=True)
    print(f"{file}: {tried - survived} of {tried} killed ({(tried - survived) / max(1, tried):.0%})", flush=True)
    return survived, tried


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TESTS))
    parser.add_argument("--every", type=int, default=1, help="of the mutants, each N-th alone")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    for library in LIBRARIES.split():
        importlib.import_module(library)
    counts = [mutate(file, options.every) for file in options.modules]
    survived, tried = map(sum, zip(*counts, strict=True))
    print(f"in all: {tried - survived} of {tried} killed ({(tried - survived) / max(1, tried):.0%})")
