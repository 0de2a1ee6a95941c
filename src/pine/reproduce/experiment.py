"""An experiment of the paper as data: what is run, what the paper says about it, and what is drawn.

Each is a TOML file in experiments/:

    title, place          what it is, and where the paper has it
    kind                  "scores" of methods, "maps" of vectors, "approximation" of functions of sets, "inductive"
                          scores: graphs that training never sees, or "links": edges (pine.reproduce.kinds)
    datasets, ratios (shares of labeled nodes, or "public": the split of the data set), repeats, metrics, sizes (of
                          functions that approximate)
    features              whether methods get the node features of the data sets, which the paper mutes
    steps                 whether each method is the one above and one thing more: each is compared with that
    seeds                 of fits on the public split, where nothing but the seed differs; without it, repeats
    fewer                 {data set: repeats} where there are fewer
    vector_seeds          {data set: n}: vectors that no label enters are made with n seeds, which serve all repeats
    notes                 what has to be said beside every table
    [[methods]]           name, spec as `pine evaluate` takes it (of an inductive one: as
                          pine.reproduce.inductive.settings has it), search (other specs to choose from on held-out
                          labels), values that stand for {} in the specs, panel (its axis in figures), drawn (false: in
                          tables alone, as forms of the first method and others that have parts of it),
                          slow (true: it takes hours, and is made with --slow alone),
                          change (of steps: what is printed, and what is here instead)
    [[claims]]            text, place, check (pine.reproduce.claims), and what the check needs
    [quick]               what is smaller with --quick: datasets, ratios, repeats, seeds, methods, values, sizes;
                          also: settings that all its methods get, such as fewer epochs
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from pine.datasets.catalog import CATALOG
from pine.errors import InputError, listed
from pine.evaluation.protocol import PUBLIC, Ratio
from pine.evaluation.specs import with_settings

MAX_SEARCH = 7  # settings of a method that is tuned, beside the paper's
QUICK_KEYS = {"datasets", "ratios", "repeats", "seeds", "methods", "values", "sizes", "also"}

Value = int | float


@dataclass(frozen=True)
class Method:
    """A line of a figure: a spec, others to choose from on held-out labels, and the values that stand for {}.

    repeats: at most, where a method is too slow for those of the experiment: the first of its splits.
    change: by what a step differs from the one before it, in words.
    """

    name: str
    spec: str
    search: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    panel: str = ""
    drawn: bool = True
    slow: bool = False
    repeats: int | None = None
    change: str = ""

    def __post_init__(self) -> None:
        if len(self.search) > MAX_SEARCH:
            raise InputError(f"{self.name}: search has {len(self.search)} specs, at most {MAX_SEARCH} are fair")
        if bool(self.values) != ("{}" in self.spec):
            raise InputError(f"{self.name}: values stand for {{}} in spec: give both or neither, got {self.spec!r}")

    def specs(self, value: Value | None = None) -> list[str]:
        """The specs to choose from, the paper's first."""
        given = (self.spec, *self.search)
        return list(given) if value is None else [spec.replace("{}", str(value)) for spec in given]

    def with_settings(self, changes: Sequence[str]) -> Method:
        """With more settings, key=value each, in all its specs."""
        search = tuple(with_settings(spec, changes) for spec in self.search)
        return replace(self, spec=with_settings(self.spec, changes), search=search)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and how it is checked."""

    text: str
    place: str
    check: str
    needs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """As the file has it."""
        left = dict(given)
        try:
            return cls(left.pop("text"), left.pop("place"), left.pop("check"), left)
        except KeyError as missing:
            raise InputError(f"a claim needs text, place and check; {missing} is missing in {given!r}") from None


@dataclass(frozen=True)
class Experiment:
    """One file. Unknown keys and data sets are refused here; kinds, specs and checks in pine.reproduce.catalog."""

    name: str
    title: str
    place: str
    kind: str
    datasets: tuple[str, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    repeats: int = 1
    metrics: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    features: bool = False
    steps: bool = False
    seeds: int | None = None
    fewer: Mapping[str, int] = field(default_factory=dict)
    vector_seeds: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    methods: tuple[Method, ...] = ()
    claims: tuple[Claim, ...] = ()
    quick: Mapping[str, Any] = field(default_factory=dict)

    def num_repeats(self, dataset: str, ratio: Ratio, method: str = "") -> int:
        """How many results a cell has."""
        most = self.seeds if ratio == PUBLIC else None
        asked = self.fewer.get(dataset, self.repeats) if most is None else most
        own = [each.repeats for each in self.methods if each.name == method and each.repeats is not None]
        return min([asked, *own])

    @property
    def slow(self) -> list[str]:
        """The names of the methods that take hours."""
        return list(dict.fromkeys(method.name for method in self.methods if method.slow))

    @property
    def undrawn(self) -> list[str]:
        """The names of the methods that are in tables alone."""
        return [method.name for method in self.methods if not method.drawn]

    def without(self, names: Collection[str]) -> Self:
        """With the other methods alone."""
        return replace(self, methods=tuple(method for method in self.methods if method.name not in names))

    def specs(self) -> Iterator[tuple[str, str]]:
        """Names of methods and their specs, each value in its place."""
        for method in self.methods:
            for value in method.values or (None,):
                for spec in method.specs(value):
                    yield method.name, spec

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> Self:
        """Read what a file holds."""
        known = {each.name for each in fields(cls)} - {"name"}
        _only(f"experiment {name}", given, known)
        _only(f"[quick] of experiment {name}", given.get("quick", {}), QUICK_KEYS)
        plain: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given.items()
        }
        plain["methods"] = tuple(_method(name, each) for each in given.get("methods", ()))
        plain["claims"] = tuple(Claim.of(each) for each in given.get("claims", ()))
        try:
            made = cls(name, **plain)
        except TypeError as missing:
            raise InputError(f"experiment {name}: {missing}") from None
        _only(f"datasets of experiment {name}", made.datasets, set(CATALOG))
        _only(f"fewer and vector_seeds of experiment {name}", {*made.fewer, *made.vector_seeds}, set(made.datasets))
        for ratio in (*made.ratios, *made.quick.get("ratios", ())):
            if ratio != PUBLIC and not (isinstance(ratio, float) and 0 < ratio < 1):
                raise InputError(f"experiment {name}: ratios are between 0 and 1, or {PUBLIC!r}, got {ratio!r}")
        _only(f"[quick] methods of experiment {name}", made.quick.get("methods", ()), {m.name for m in made.methods})
        return made

    def quicker(self) -> Self:
        """A small slice of the same, in which no method takes hours."""
        small = dict(self.quick)
        methods = [each for each in self.methods if each.name in small.get("methods", [m.name for m in self.methods])]
        if "values" in small:
            kept = {m: tuple(value for value in m.values if value in small["values"]) for m in methods}
            methods = [replace(m, values=kept[m]) for m in methods if kept[m] or not m.values]
        methods = [replace(method.with_settings(small.get("also", ())), slow=False, repeats=None) for method in methods]
        changes: dict[str, Any] = {key: tuple(small[key]) for key in ("datasets", "ratios", "sizes") if key in small}
        repeats = small.get("repeats", 1)
        changes |= {"repeats": repeats, "fewer": {}, "seeds": small.get("seeds")}
        return replace(self, methods=tuple(methods), **changes)


def _method(name: str, given: Mapping[str, Any]) -> Method:
    _only(f"a method of experiment {name}", given, {each.name for each in fields(Method)})
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    try:
        return Method(**plain)
    except TypeError as missing:
        raise InputError(f"a method of experiment {name}: {missing}") from None


def _only(what: str, given: Any, known: set[str]) -> None:
    unknown = [key for key in given if key not in known]
    if unknown:
        raise InputError(f"{what} has {listed(unknown)}, which is unknown; there are {listed(sorted(known), 20)}")
