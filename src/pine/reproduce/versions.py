"""The code version of a function or class: a hash of its module and of all that it imports from this package.

A result is made again when, and only when, code that it may depend on has changed.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "pine"


@cache
def version(module: str) -> str:
    """Of a module of this package, by its full name."""
    digest = hashlib.sha256()
    for name in sorted(_reached(module)):
        digest.update(f"{name}\n".encode() + _source(name).read_bytes())
    return digest.hexdigest()[:16]


def _reached(module: str) -> set[str]:
    """The modules of this package that a module imports, at its top or where it needs them, and those they import."""
    found, left = set(), [module]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _imports(name)
    return found


@cache
def _imports(module: str) -> list[str]:
    """Imported modules of this package; a name that a package hands on counts as the whole package."""
    found: list[str] = []
    for node in ast.walk(ast.parse(_source(module).read_bytes())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.append(node.module)
            found += [
                f"{node.module}.{alias.name}" for alias in node.names if _is_module(f"{node.module}.{alias.name}")
            ]
    return [name for name in dict.fromkeys(found) if name == PACKAGE or name.startswith(PACKAGE + ".")]


@cache
def _is_module(name: str) -> bool:
    if not name.startswith(PACKAGE + "."):
        return False
    parent = _source(name.rpartition(".")[0])
    place = parent.parent / name.rpartition(".")[2]
    return parent.name == "__init__.py" and (place.with_suffix(".py").exists() or (place / "__init__.py").exists())


@cache
def _source(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None, module
    assert spec.origin is not None, module
    return Path(spec.origin)
