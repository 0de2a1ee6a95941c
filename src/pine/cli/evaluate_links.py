"""`pine evaluate --task link`: methods on held-out edges of a data set or of the user's own file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

import pine
from pine._internal.progress import ProgressCounter
from pine.cli.graphs import EdgeColumns
from pine.cli.progress import progress_bar
from pine.cli.tables import differences_table, results_table
from pine.errors import InputError, did_you_mean

DEFAULT_LINK_METHODS = "pine,heuristics,adamic-adar,pagerank"


@dataclass(frozen=True)
class LinkOptions:
    """What was asked for; of: the relation whose edges are held out, time: the column of the edges' times."""

    methods: str
    shares: Sequence[float]
    repeats: int
    json: str | None = None
    resume: bool = False
    of: str | None = None
    time: str | None = None


def evaluate_links(
    name: str, graph: pine.Graph, options: LinkOptions, console: Console, edges: Path | None, columns: EdgeColumns
) -> None:
    """Score methods and print the tables; edges: the user's own file, for its times."""
    runs, links = pine.evaluation.link_runs, pine.evaluation.link_specs
    names = dict.fromkeys(spec.strip() for spec in options.methods.split(","))
    specs = [links.parse_link_spec(spec) for spec in names]
    relation = relation_named(graph, options.of)
    path = None if options.json in (None, "-") else Path(str(options.json))
    results = pine.evaluation.results.read_results(path, name) if path is not None and options.resume else []
    split = None if options.time is None else _by_time(graph, edges, columns, options.time)
    made = runs.evaluate_links(
        name, graph, specs, options.shares, options.repeats, {each.key for each in results}, relation, split
    )
    with progress_bar(Console(stderr=True), name) as progress:
        work = ProgressCounter(progress, name)
        work.plan(len(specs) * len(options.shares) * options.repeats)
        work.advance(len(results))
        for result in made:
            results.append(result)
            results.sort(key=lambda each: list(names).index(each.method) if each.method in names else len(names))
            if path is not None:
                pine.evaluation.results.write_results(results, path)
            work.advance(1, result.method)
    shown = [
        each for each in results
        if each.method in names and each.ratio in options.shares and each.repeat < options.repeats
    ]  # fmt: skip
    how = "the latest" if options.time is not None else "uniformly drawn"
    console.print(results_table(f"{name}: {graph}", shown, f"by share of edges held out, {how}"))
    differences = differences_table(shown, held_out=True)
    if differences is not None:
        console.print(differences)
    rivals = pine.links.split.RIVALS
    console.print(
        "negatives: as many pairs without an edge, drawn uniformly; hits and MRR: each held-out edge against "
        f"{rivals} nodes without an edge to one of its ends"
    )
    if options.json == "-":
        sys.stdout.write(pine.evaluation.results.as_text(shown))


def relation_named(graph: pine.Graph, name: str | None) -> tuple[str, str, str] | None:
    """The relation that is written SRC:REL:DST; None where none is."""
    if name is None:
        return None
    known = [":".join(relation) for relation in graph.relations]
    if name not in known:
        raise InputError(f"unknown relation {name!r}; {did_you_mean(name, known)}")
    return graph.relations[known.index(name)]


def _by_time(
    graph: pine.Graph, edges: Path | None, columns: EdgeColumns, time: str
) -> pine.evaluation.link_runs.SplitEdges:
    """Splits that hold out the latest edges; repeats differ in the negatives, and in the order of equal times."""
    if edges is None:
        raise InputError("--time names a column of one file of edges of your own; give that file")
    ends, times = pine.io.read_edge_times(edges, graph, time, columns.source, columns.target, columns.header)
    (relation,) = graph.relations
    first = pine.links.split.earliest_times(graph, relation, ends, times)

    def split(share: float, repeat: int) -> pine.links.LinkSplit:
        return pine.links.hold_out_latest(graph, first, repeat, test=share, valid=share / 2)

    return split
