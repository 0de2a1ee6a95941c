"""`pine neighbors`: the nodes nearest to a node, by the vectors of a saved run of any method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import pine
from pine.cli.options import RunFolder
from pine.errors import InputError, did_you_mean, printable

if TYPE_CHECKING:
    from pine.embedder import Embedder

MOST_DIGITS = 19  # of an integer of 64 bits


def neighbors(
    run: RunFolder,
    node: Annotated[str, typer.Argument(help="A node's id.")],
    k: Annotated[int, typer.Option("-k", help="How many.", min=1)] = 10,
    type: Annotated[str | None, typer.Option(help="The node's type, if its id occurs in several.")] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="The type of the nodes to find; otherwise the node's own.", metavar="TYPE"),
    ] = None,
) -> None:
    """The nodes whose vectors are nearest to a node's: cosine and id.

    Example: pine neighbors run "Jean Valjean" -k 5
    """
    model = pine.methods.load_run(run)
    for asked in (type, to):
        if asked is not None and asked not in model.nodes_.types:
            raise InputError(f"unknown node type {asked!r}; {did_you_mean(asked, model.nodes_.types)}")
    for found, cosine in model.most_similar(id_of(model, node, type), k, type, to=to):
        typer.echo(printable(f"{cosine:.4f}\t{found}"))


def id_of(model: Embedder, node: str, type: str | None) -> str | int:
    """A terminal gives text, also where the ids are integers."""
    kinds = {model.nodes_.of(each).kind for each in ([type] if type else model.nodes_.types)}
    digits = node.removeprefix("-")
    if "int" not in kinds or not (digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS):
        return node
    if kinds == {"int"}:
        return int(node)
    # Ids of some types are text: those of the types that have this node.
    is_text = any(model.nodes_.of(each).kind == "str" and _has(model, node, each) for each in model.nodes_.types)
    return node if is_text else int(node)


def _has(model: Embedder, node: str, type: str) -> bool:
    try:
        model.nodes_.find([node], type)
    except InputError:
        return False
    return True
