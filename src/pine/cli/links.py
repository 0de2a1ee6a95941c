"""`pine links`: the likeliest edges that a graph does not have, of one node or of all, by a saved run."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

import pine
from pine.cli.console import plain_console, print_lines
from pine.cli.evaluate_links import relation_named
from pine.cli.graphs import EdgeColumns, attach_features, read_graph
from pine.cli.neighbors import id_of
from pine.cli.options import (
    Directed,
    FeatureFiles,
    Header,
    IdColumn,
    NodeFiles,
    NoWeight,
    Relations,
    RunFolder,
    SourceColumn,
    TargetColumn,
    WeightColumn,
)
from pine.cli.predict import trained_directed
from pine.cli.recorded_files import recorded_files
from pine.errors import InputError, did_you_mean, one_of, printable

MEANINGS = {
    "combined": "chance of an edge, were there as many edges as other pairs",
    "cosine": "cosine of the two vectors, from -1 to 1",
    "dot": "dot product of the two vectors",
    "f": "cosine of f of one node's neighbors and the other's vector, mean of both ways",
    "bilinear": "x_u' W x_v, with a W learned from the edges",
}


def links(
    run: RunFolder,
    node: Annotated[str | None, typer.Argument(help="A node's id; without one, edges anywhere.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many.", min=1)] = 10,
    type: Annotated[str | None, typer.Option(help="The node's type, if its id occurs in several.")] = None,
    score: Annotated[str, typer.Option(help="What pairs are ranked by.", metavar="|".join(MEANINGS))] = "combined",
    of: Annotated[
        str | None, typer.Option("--of", help="The relation to look in, if there are several.", metavar="SRC:REL:DST")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object to standard output.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write them to a .csv or .tsv file.", metavar="FILE")] = None,
    edges: Annotated[
        Path | None,
        typer.Option(help="The edges that the run was trained on; otherwise the file that it names.", metavar="FILE"),
    ] = None,
    relation: Relations = None,
    nodes: NodeFiles = None,
    features: FeatureFiles = None,
    directed: Directed = False,
    source: SourceColumn = None,
    target: TargetColumn = None,
    weight: WeightColumn = None,
    no_weight: NoWeight = False,
    header: Header = None,
    id_column: IdColumn = None,
) -> None:
    """The likeliest missing edges of a node, or of the whole graph: score and ids.

    Example: pine links run "Jean Valjean" -k 5
    """
    one_of("--score", score, MEANINGS)
    if out is not None:
        pine.io.link_files.check_links_file(out)
    model = pine.methods.load_run(run)
    if type is not None and type not in model.nodes_.types:
        raise InputError(f"unknown node type {type!r}; {did_you_mean(type, model.nodes_.types)}")
    wanted = None if node is None else id_of(model, node, type)
    if wanted is not None:
        model.nodes_.find([wanted], type)  # refused before the edges are read
    if edges is None and not relation:
        try:
            found_files = recorded_files(run)
        except InputError as problem:
            raise InputError(f"{problem}: give them, --edges FILE or --relation SRC:REL:DST=FILE") from None
        edges, relation, nodes = found_files.edges, found_files.relations, nodes or found_files.nodes
    columns = EdgeColumns(source, target, weight, no_weight, header)
    read = read_graph(edges, relation, columns, directed or trained_directed(model), nodes, id_column)
    console = plain_console(stderr=True)
    graph = attach_features(read.graph, features, console.print, id_column)
    looked_in = pine.links.pairs.check_relation_of(graph, relation_named(graph, of))
    if score == "combined" and graph.nodes.equals(model.nodes_):
        count = pine.links.combined.num_held_out(graph, looked_in)
        console.print(f"{model.name} is fitted once more, without {count:,} edges; --score cosine takes no fit")
    found = model.missing_edges(graph, wanted, k, type, relation=looked_in, score=score)
    rows = [(each[0] if wanted is None else wanted, each[-2], each[-1]) for each in found]
    if json:
        listed_links = [{"source": one, "target": other, "score": value} for one, other, value in rows]
        about = {"run": str(run), "score": score, "meaning": MEANINGS[score], "links": listed_links}
        sys.stdout.write(json_module.dumps(about, default=str) + "\n")
    if out is not None:
        pine.io.link_files.write_links(out, rows)
        console.print(f"{len(rows):,} links in {out}")
    if not json and out is None:
        print_lines(console, [f"score: {MEANINGS[score]}"])
        for one, other, value in rows:
            ends = [other] if wanted is not None else [one, other]
            typer.echo(printable("\t".join([f"{value:.4f}", *map(str, ends)])))
