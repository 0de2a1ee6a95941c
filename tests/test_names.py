"""A name means one thing: module constants have one home, and classes have names of their own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pine"
TREES = {path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def constants(tree: ast.Module) -> list[tuple[str, str]]:
    """The names in capitals that a module sets at its top, and what to."""
    found = []
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value: ast.expr | None = getattr(node, "value", None)
        for target in targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs: list[tuple[ast.expr, ast.expr | None]] = list(zip(target.elts, value.elts, strict=True))
            else:
                pairs = [(target, value)]
            found += [
                (each.id, ast.unparse(to))
                for each, to in pairs
                if isinstance(each, ast.Name) and to is not None and re.fullmatch(r"[A-Z][A-Z0-9_]+", each.id)
            ]
    return found


def test_a_module_constant_has_one_home():
    homes = defaultdict(list)
    for path, tree in TREES.items():
        for name, value in constants(tree):
            homes[name].append(f"{path}: {value}")
    assert len(homes) > 50, "they are found at all"
    # The revision numbers of kept results are each module's own, and all log to one place.
    several = {name: places for name, places in homes.items() if len(places) > 1 and name not in ("REVISION", "LOG")}
    assert not several, several


def test_a_public_class_name_is_used_once():
    homes = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path))
    assert not {name: places for name, places in homes.items() if len(places) > 1}
    assert not homes.keys() & {"Network", "Layer", "Unit", "Place", "Map", "Training", "Columns", "Goal"}
