"""Imports run one way: from the command line down to the graph, without a circle.

All imports of src/pine are read, also those inside functions and under TYPE_CHECKING. `import pine.a.b` and
`from pine.a.b import name` count as an import of pine.a.b; a name that a package re-exports counts as an import of the
package and of the module that the name comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pytest

import pine

SOURCE = Path(__file__).parents[1] / "src"

# Every module of pine is in one of these rooms; a room imports only from rows below its own.
ROWS = (
    ("__main__",),
    ("cli",),
    ("explore",),
    ("reproduce",),
    ("evaluation",),
    ("methods", "node_classifier"),
    ("baselines", "model"),
    ("embedder",),
    ("node_links",),
    ("links", "node_vectors"),
    ("io", "similarity"),
    ("propagation", "metrics", "plots"),
    ("distributed",),
    ("nn",),
    ("labels", "datasets"),
    ("graph",),
    ("_internal",),
    ("errors", "_version"),
)
RANKS = {room: rank for rank, rooms in enumerate(ROWS) for room in rooms}
ROOT = "pine"  # names everything late; only the command line, which nothing imports, uses it
PRINTING = {"rich", "typer"}
PROGRESS_BAR = "pine._internal.progress_bar"  # for who asks for it: fit(progress=True)
OPTIONAL = {"torch_geometric", "triton"}


@dataclass(frozen=True)
class Import:
    """An import of a module, of pine or not, in a module of pine."""

    importer: str
    imported: str
    line: int
    in_function: bool
    late: bool  # in a function or under TYPE_CHECKING: the module is not loaded with its importer

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: {self.imported}"


class Package:
    """The imports of all modules below a folder that holds the package pine."""

    def __init__(self, source: Path) -> None:
        self.trees = {}
        for path in sorted((source / ROOT).rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
        self.imports = [each for module in self.trees for each in self._imports_of(module)]
        self.own = [each for each in self.imports if _package(each.imported) == ROOT]

    def _imports_of(self, module: str) -> Iterator[Import]:
        for node, in_function, late in _import_statements(self.trees[module]):
            if isinstance(node, ast.Import):
                imported = [name.name for name in node.names]
            else:
                assert node.module is not None, f"{module}, line {node.lineno}: import by the full name"
                assert node.level == 0, f"{module}, line {node.lineno}: import by the full name"
                imported = [each for name in node.names for each in self._sources(node.module, name.name)]
            for each in dict.fromkeys(imported):
                if each != module:
                    yield Import(module, each, node.lineno, in_function, late)

    def _sources(self, module: str, name: str) -> Iterator[str]:
        """Where `from module import name` takes the name from."""
        if f"{module}.{name}" in self.trees:
            yield f"{module}.{name}"
            return
        yield module
        for statement in self.trees[module].body if module in self.trees else ():
            if isinstance(statement, ast.ImportFrom) and statement.module and _package(statement.module) == ROOT:
                for each in statement.names:
                    if name in (each.name, each.asname):
                        yield from self._sources(statement.module, each.name)

    def circles(self) -> list[str]:
        """Groups of modules that need each other, each with one way round."""
        graph = nx.DiGraph((each.importer, each.imported) for each in self.own)
        groups = [group for group in nx.strongly_connected_components(graph) if len(group) > 1]
        return [" -> ".join(start for start, _ in nx.find_cycle(graph.subgraph(group))) for group in groups]

    def upward(self) -> list[str]:
        """Imports of a room in a row above, or in the same row."""
        found = []
        for each in self.own:
            importer, imported = _room(each.importer), _room(each.imported)
            if ROOT not in (importer, imported) and importer != imported and RANKS[importer] >= RANKS[imported]:
                found.append(str(each))
        return found

    def of_the_root(self) -> list[str]:
        """Imports of pine itself outside of the command line."""
        outside = [each for each in self.own if _room(each.importer) != "cli"]
        return [str(each) for each in outside if each.imported == ROOT]

    def late_without_need(self) -> list[str]:
        """Imports of pine inside functions, but for modules that load a package which may not be there."""
        eager = nx.DiGraph((each.importer, each.imported) for each in self.imports if not each.late)
        loads_optional = {
            module for package in eager if _package(package) in OPTIONAL
            for module in nx.ancestors(eager, package)
        }  # fmt: skip
        return [str(each) for each in self.own if each.in_function and each.imported not in loads_optional]

    def loading_by_name(self) -> list[str]:
        """Calls that import modules by strings, which none of this sees, outside of pine/__init__.py."""
        return [
            f"{module}, line {line}: {function}"
            for module, tree in self.trees.items()
            for function, line in _calls(tree)
            if module != ROOT and function.split(".")[-1].strip("_") in ("import_module", "import")
        ]

    def printing(self) -> list[str]:
        """Use of rich, of typer and of print outside of the command line."""
        outside = [module for module in self.trees if _room(module) != "cli" and module != PROGRESS_BAR]
        packages = [
            str(each) for each in self.imports if each.importer in outside and _package(each.imported) in PRINTING
        ]
        calls = [(module, *call) for module in outside for call in _calls(self.trees[module])]
        return packages + [f"{module}, line {line}: print" for module, function, line in calls if function == "print"]


def _import_statements(
    node: ast.AST, in_function: bool = False, late: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, in_function, late
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from _import_statements(child, in_function or function, late or function or checking)


def _package(module: str) -> str:
    return module.split(".")[0]


def _room(module: str) -> str:
    """The first name below pine; pine itself for pine/__init__.py."""
    return module.split(".")[1] if "." in module else module


def _calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every function that is called, as it is written (print, importlib.import_module), and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def assert_none(found: list[str]) -> None:
    assert not found, "\n".join(["", *found])


@pytest.fixture(scope="module")
def package() -> Package:
    return Package(SOURCE)


def test_no_modules_import_each_other_in_a_circle(package: Package):
    assert_none(package.circles())


def test_imports_run_down_only(package: Package):
    assert {_room(module) for module in package.trees} == {*RANKS, ROOT}
    assert_none(package.upward())


def test_only_the_command_line_imports_pine_itself(package: Package):
    assert_none(package.of_the_root())


def test_imports_stand_at_the_top_but_for_modules_that_need_an_optional_package(package: Package):
    assert_none(package.late_without_need())
    assert_none(package.loading_by_name())


def test_only_the_command_line_prints(package: Package):
    assert_none(package.printing())


def test_what_pine_loads_late_is_what_type_checkers_see_and_dir_lists_the_public_names(package: Package):
    (block,) = [statement for statement in package.trees[ROOT].body if isinstance(statement, ast.If)]
    names = {str(name.asname) for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert names == {*pine._MODULES, *pine._NAMES}
    assert set(dir(pine)) == set(pine.__all__) <= {*names, "InputError", "__version__"}
    assert all(getattr(pine, name) is not None for name in {*names, *dir(pine)})
    with pytest.raises(AttributeError, match="module 'pine' has no attribute 'PIEN'"):
        pine.PIEN  # noqa: B018


# A file that is added to a small package, by the rule that it breaks.
PACKAGE = {
    "__init__": "from pine.errors import InputError",
    "cli/__init__": "import typer\nimport pine\nprint(pine)",
    "model/__init__": "from pine.model.pine import PINE",
    "model/pine": "from pine.graph import Graph\ndef fit():\n    import pine.nn.layers\n    import networkx",
    "nn/__init__": "",
    "nn/layers": "import torch_geometric.nn\nfrom pine.errors import InputError",
    "graph/__init__": "from pine.graph.graph import Graph",
    "graph/graph": "from pine.errors import InputError",
    "errors": "",
}
BROKEN = [
    ("circles", "graph/rows", "from pine.graph import Graph", "graph/graph", "import pine.graph.rows"),
    ("circles", "graph/rows", "import pine.graph.graph", "graph/graph", "def f():\n    from pine.graph.rows import x"),
    (
        "circles",
        "graph/rows",
        "if TYPE_CHECKING:\n    from pine.graph.graph import y",
        "graph/graph",
        "import pine.graph.rows",
    ),
    ("upward", "nn/losses", "from pine.model import PINE"),
    ("upward", "nn/losses", "if TYPE_CHECKING:\n    from pine.model.pine import PINE"),
    ("upward", "nn/losses", "def f():\n    import pine.cli"),
    ("upward", "plots", "import pine.metrics", "metrics", ""),
    ("upward", "baselines/mmdw", "from pine.model import PINE"),
    ("of_the_root", "model/fitting", "import pine"),
    ("of_the_root", "model/fitting", "from pine import InputError"),
    ("late_without_need", "model/fitting", "def f():\n    from pine.graph import Graph"),
    ("late_without_need", "model/fitting", "class A:\n    def f(self):\n        import pine.nn"),
    ("loading_by_name", "model/fitting", "import importlib\nimportlib.import_module('pine.cli')"),
    ("printing", "model/fitting", "from rich.console import Console"),
    ("printing", "model/fitting", "def f():\n    import typer"),
    ("printing", "model/fitting", "print(1)"),
]


def package_of(files: dict[str, str], folder: Path) -> Package:
    for name, text in files.items():
        path = folder / ROOT / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Package(folder)


def findings(package: Package) -> dict[str, list[str]]:
    rules = ("circles", "upward", "of_the_root", "late_without_need", "loading_by_name", "printing")
    return {rule: found for rule in rules if (found := getattr(package, rule)())}


def test_a_package_that_keeps_the_rules_passes(tmp_path: Path):
    assert findings(package_of(PACKAGE, tmp_path)) == {}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: f"{broken[0]}: {broken[2]}")
def test_each_way_to_break_a_rule_is_noticed(tmp_path: Path, broken: tuple[str, ...]):
    rule, *added = broken
    files = dict(zip(added[::2], added[1::2], strict=True))
    assert rule in findings(package_of(PACKAGE | files, tmp_path))
