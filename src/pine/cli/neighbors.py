"""`pine neighbors`: the nodes nearest to a node, by the vectors of a saved run of any method."""

from __future__ import annotations

from typing import Annotated

import typer

import pine
from pine.cli.options import RunFolder


def neighbors(
    run: RunFolder,
    node: Annotated[str, typer.Argument(help="A node's id.")],
    k: Annotated[int, typer.Option("-k", help="How many.", min=1)] = 10,
    type: Annotated[str | None, typer.Option(help="The node's type, if its id occurs in several.")] = None,
) -> None:
    """The nodes whose vectors are nearest to a node's."""
    model = pine.methods.load_run(run)
    kinds = {model.nodes_.of(each).kind for each in ([type] if type else model.nodes_.types)}
    # A terminal gives text, also where the ids are integers.
    wanted: str | int = int(node) if kinds == {"int"} and node.lstrip("-").isdigit() else node
    for found, cosine in model.most_similar(wanted, k, type):
        typer.echo(f"{cosine:.4f}\t{found}")
