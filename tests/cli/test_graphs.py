"""Files that commands are given: the graph, the labels, and lines that say what was read and what was not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pine.cli.graphs import EdgeColumns, LabelColumns, attach_features, read_graph, read_labels_for
from pine.errors import InputError

LES_MISERABLES = """\
source,target,weight
Napoleon,Myriel,1
Mlle.Baptistine,Myriel,8
Mme.Magloire,Myriel,10
Mme.Magloire,Mlle.Baptistine,6
Valjean,Myriel,5
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)


def test_what_is_read_of_edges_is_said_in_lines(tmp_path: Path):
    write(tmp_path, edges=LES_MISERABLES)
    read = read_graph(tmp_path / "edges.csv", None)
    assert read.lines == [
        f"{tmp_path}/edges.csv: source 'source', target 'target', weights 'weight'",
        "graph: 5 nodes, 5 edges, undirected, weighted",
    ]
    assert read.files == {"edges": tmp_path / "edges.csv"}
    read = read_graph(tmp_path / "edges.csv", [], EdgeColumns(no_weight=True), directed=True)
    assert read.lines[0].endswith("; ignored 'weight'")
    assert read.lines[1] == "graph: 5 nodes, 5 edges, directed, not weighted"


def test_a_typed_shop_of_three_relations(tmp_path: Path):
    write(
        tmp_path,
        buys="customer,product,count\nann,p1,2\nbob,p1,1\nbob,p2,4\n",
        made="p1,acme\np2,acme\n",
        knows="who,whom\nann,bob\nbob,eve\n",
        products="id,price\np1,3.5\np2,4\np3,9\n",
    )
    relations = [
        f"customer:buys:product={tmp_path}/buys.csv",
        f"product:made_by:brand={tmp_path}/made.csv",
        f"customer:knows:customer={tmp_path}/knows.csv",
    ]
    with pytest.raises(InputError, match=r"buys\.csv: column 'count' may be weights; .*--weight count.*--no-weight"):
        read_graph(None, relations)
    nodes = [f"product={tmp_path}/products.csv"]
    with pytest.raises(InputError, match="'acme' is not among the given nodes of type 'brand'"):
        read_graph(None, relations, EdgeColumns(weight="count"), nodes=[f"brand={tmp_path}/products.csv"])
    read = read_graph(None, relations, EdgeColumns(weight="count"), nodes=nodes)
    assert read.graph.ids("product").tolist() == ["p1", "p2", "p3"]
    assert read.graph.ids("customer").tolist() == ["ann", "bob", "eve"]
    assert read.lines[-1] == (
        "graph: 7 nodes (3 product, 3 customer, 1 brand), 7 edges (3 customer-buys-product, 2 product-made_by-brand, "
        "2 customer-knows-customer), undirected, weighted"
    )
    assert read.lines[0].endswith("buys.csv: source 'customer', target 'product', weights 'count'")
    assert "no header, columns source 0, target 1" in read.lines[1]
    assert read.lines[3].endswith("products.csv: ids 'id'; ignored 'price'")
    assert set(read.files) == {
        "customer:buys:product", "product:made_by:brand", "customer:knows:customer", "nodes product",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (EdgeColumns(source="from"), "has no column 'from'; its columns are 'source', 'target', 'weight'"),
        (EdgeColumns(weight="kg"), "has no column 'kg'"),
        (EdgeColumns(header=False), "column 2 has no name and may be weights; use it with weights='2'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path: Path, columns: EdgeColumns, message: str):
    write(tmp_path, edges=LES_MISERABLES)
    with pytest.raises(InputError, match=message):
        read_graph(tmp_path / "edges.csv", None, columns)


def test_options_that_contradict_each_other_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="either --weight NAME or --no-weight"):
        EdgeColumns(weight="w", no_weight=True)
    with pytest.raises(InputError, match="relation a:b:c is given twice"):
        read_graph(None, ["a:b:c=x.csv", "a:b:c=y.csv"])
    write(tmp_path, edges="a,b\nb,c\n", nodes="a\nb\nc\n")
    with pytest.raises(InputError, match="nodes of type 'node' are given twice"):
        read_graph(tmp_path / "edges.csv", None, nodes=[f"{tmp_path}/nodes.csv"] * 2)


LABELS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "classes": (
        "id,label\na,x\nb,y\nc,x\nd,\n",
        {},
        "classes",
        "2 classes (x 2, y 1); known for 3 of 5 nodes, 1 empty",
    ),
    "zero and one": ("id,label\na,0.0\nb,1.0\nc,\n", {}, "classes", "2 classes (0 1, 1 1); known for 2 of 5 nodes"),
    "numbers": ("id,label\na,1.5\nb,2\nc,7\n", {}, "numbers", "numbers from 1.5 to 7; known for 3 of 5 nodes"),
    "sets": ("id,label\na,x|y\nb,y\n", {"separator": "|"}, "label-sets", "2 labels, several a node (y 2, x 1)"),
    "task": ("id,label\na,1\nb,2\n", {"task": "numbers"}, "numbers", "numbers from 1 to 2"),
    "header": ("a,x\nb,y\nc,x\n", {"header": True}, "classes", "2 classes (x 1, y 1); known for 2 of 5 nodes"),
    "columns": ("who,age,sex\na,3,m\nb,5,f\n", {"labels": "sex"}, "classes", "2 classes (f 1, m 1)"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_said_with_their_task_and_counts(tmp_path: Path, case: str):
    text, given, task, line = LABELS[case]
    options = dict(given)
    write(tmp_path, edges="a,b\nb,c\nc,d\nd,e\n", labels=text)
    graph = read_graph(tmp_path / "edges.csv", None).graph
    task_option = options.pop("task", "auto")
    read = read_labels_for(graph, tmp_path / "labels.csv", LabelColumns(**options), task_option)
    assert read.task == task
    assert line in read.lines[1]
    assert not read.warnings
    if case == "columns":
        assert read.lines[0].endswith("labels.csv: ids 'who', labels 'sex'; ignored 'age'")


def test_what_is_odd_about_labels_is_a_warning(tmp_path: Path):
    write(tmp_path, edges="a,b\nb,c\n", labels="a,1.0\nb,2.0\nz,3.0\n")
    graph = read_graph(tmp_path / "edges.csv", None).graph
    left_out, whole = read_labels_for(graph, tmp_path / "labels.csv", LabelColumns()).warnings
    assert "1 label is left out, of an id that is not in the graph: 'z'" in left_out
    assert "--nodes FILE" in left_out
    assert "labels are whole numbers such as 1; for classes, say --task classes" in whole
    assert len(read_labels_for(graph, tmp_path / "labels.csv", LabelColumns(), "classes").warnings) == 1


def test_labels_of_nodes_without_edges_are_kept_with_a_file_of_nodes(tmp_path: Path):
    write(tmp_path, edges="a,b\nb,c\n", labels="a,x\nb,y\nz,x\n", nodes="a\nb\nc\nz\n")
    graph = read_graph(tmp_path / "edges.csv", None, nodes=[f"{tmp_path}/nodes.csv"]).graph
    read = read_labels_for(graph, tmp_path / "labels.csv", LabelColumns())
    assert read.labels == {"a": "x", "b": "y", "z": "x"}
    assert not read.warnings


def test_features_take_the_same_column_of_ids(tmp_path: Path):
    write(tmp_path, edges="a,b\nb,c\n", features="age,who\n3,a\n4,b\n5,c\n")
    graph = read_graph(tmp_path / "edges.csv", None).graph
    lines: list[str] = []
    graph = attach_features(graph, [f"{tmp_path}/features.csv"], lines.append, "who")
    assert graph.features["node"].tolist() == [[3], [4], [5]]
    assert lines == ["features: 1 columns, known for 3 nodes and unknown for 0"]
