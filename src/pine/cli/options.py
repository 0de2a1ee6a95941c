"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder of data set files; otherwise PINE_DATA or the cache folder.", metavar="FOLDER"),
]
RunFolder = Annotated[Path, typer.Argument(help="A folder that `pine train` wrote.", metavar="RUN")]

# ---- the graph ----

EdgeFile = Annotated[Path | None, typer.Argument(help="csv, tsv, space-separated or Parquet file of edges.")]
Relations = Annotated[
    list[str] | None, typer.Option(help="A relation of a typed graph; repeat it.", metavar="SRC:REL:DST=FILE")
]
NodeFiles = Annotated[
    list[str] | None,
    typer.Option(
        help="All nodes, also those without edges: ids, one a line or a column; repeat it for several types.",
        metavar="[TYPE=]FILE",
    ),
]
FeatureFiles = Annotated[
    list[str] | None,
    typer.Option(
        help="Node features: csv, tsv or Parquet by id, npy or npz in node order; repeat it for several types.",
        metavar="[TYPE=]FILE",
    ),
]
Directed = Annotated[bool, typer.Option("--directed", help="Edges go one way.")]
SourceColumn = Annotated[str | None, typer.Option("--source", help="Column of the edges' sources.", metavar="NAME")]
TargetColumn = Annotated[str | None, typer.Option("--target", help="Column of the edges' targets.", metavar="NAME")]
WeightColumn = Annotated[
    str | None,
    typer.Option(
        "--weight",
        help="Column of the edges' weights; without names, 2 is the third column. A column called weight is taken.",
        metavar="NAME",
    ),
]
NoWeight = Annotated[bool, typer.Option("--no-weight", help="Leave weights alone.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether files of edges or relations begin with a header; otherwise one is seen by its words, which occur "
        "nowhere else.",
        show_default=False,
    ),
]

# ---- labels ----

LabelFile = Annotated[
    Path | None, typer.Option("--labels", help="csv, tsv or Parquet file of node ids and labels.", metavar="FILE")
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", help="Column of ids in files of labels, nodes, features.", metavar="NAME")
]
LabelHeader = Annotated[
    bool | None,
    typer.Option("--label-header/--no-label-header", help="The same for the file of labels.", show_default=False),
]
LabelColumn = Annotated[str | None, typer.Option("--label-column", help="Column of labels.", metavar="NAME")]
LabelType = Annotated[
    str | None, typer.Option("--label-type", help="The node type that the labels are on.", metavar="TYPE")
]
TaskName = Annotated[
    str,
    typer.Option("--task", help="What labels are; auto: by their values.", metavar="auto|classes|label-sets|numbers"),
]
Separator = Annotated[
    str | None,
    typer.Option("--separator", help="What separates several labels in one cell, as ; in A;B.", metavar="TEXT"),
]
