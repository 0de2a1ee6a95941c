"""The full run in four tables."""

from __future__ import annotations

from typing import Any

import pytest

from pine import InputError
from pine.reproduce.catalog import find
from pine.reproduce.overview import ladder, overview
from pine.reproduce.rows import write_rows


def rows(dataset, method, metric, values, stopped="", ratios=(0.1, 0.5, 0.9)):
    about = {"dataset": dataset, "method": method, "panel": "", "value": None, "spec": "", "stopped": stopped}
    return [
        about | {"ratio": ratio, "repeat": repeat, metric: value, "seconds": 1.0}
        for ratio, each in zip(ratios, values, strict=True)
        for repeat, value in enumerate(each)
    ]


def around(*means):
    """Three splits for each mean."""
    return [[mean - 0.01, mean, mean + 0.01] for mean in means]


def the_other_way(*means):
    return [each[::-1] for each in around(*means)]


def test_methods_are_rows_data_sets_are_columns_and_who_is_clearly_ahead_is_bold(tmp_path):
    one_type = [
        *rows("cora", "PINE", "accuracy", around(0.75, 0.9, 0.5)),
        *rows("cora", "GAT", "accuracy", around(0.6, 0.92, 0.4)),
        *rows("cora", "GCN", "accuracy", [*around(0.7, 0.95), *the_other_way(0.495)]),
        *rows("pubmed", "PINE", "accuracy", around(0.7, 0.8, 0.9)),
        *rows("pubmed", "GCN", "accuracy", around(0.6, 0.75, 0.8))[:6],
        *rows("pubmed", "struc2vec", "accuracy", [[None] * 3] * 3, stopped="time: too long"),
    ]
    write_rows(one_type, tmp_path / "homogeneous.csv")
    typed = rows("dblp", "PINE", "micro_f1", [[0.7], [0.8], [0.9]])
    write_rows([row | {"macro_f1": 0.25} for row in typed], tmp_path / "heterogeneous.csv")
    splits = ("public", 0.1, 0.3)
    with_features = [
        *rows("cora", "PINE", "accuracy", around(0.7, 0.8, 0.9), ratios=splits),
        *rows("cora", "GCN", "accuracy", around(0.6, 0.85, 0.8), ratios=splits),
    ]
    write_rows(with_features, tmp_path / "features.csv")
    reached: dict[str, list[tuple[Any, ...]]] = {
        "A": [("PINE", 0.5, 0.75), ("GraphSAGE-pool", 0.25, 0.5)],
        "B": [("GAT", 0.25, None)],
    }
    unseen = [
        row | {"panel": panel, "ratio": 1.0, "validation": 0.5, "kept": 1, "epochs": 2}
        for panel, methods in reached.items()
        for name, *values in methods
        for row in rows("ppi", name, "micro_f1", [[each for each in values if each], [], []])
    ]
    write_rows(unseen, tmp_path / "ppi.csv")
    made = overview(tmp_path)
    assert list(made) == ["homogeneous", "heterogeneous", "features", "ppi", "not-measured"]
    assert (
        "| Micro F1 on posts of later days: Reddit | not measured | `pine reproduce reddit`, for whoever"
        in made.pop("not-measured")
    )
    *lines, note = "\n\n".join(made.values()).splitlines()
    assert note.startswith("The labels of this ppi file are rebuilt")
    against = "against the best other of each cell: PINE has the higher mean in"
    tests = "by paired t-tests (p < .05, Holm)"
    strict = "corrected for splits that share test nodes (Nadeau and Bengio)"
    alone = "By the first of these tests, won, tied and lost against each alone:"
    assert lines == [
        "| accuracy at 10, 50, 90 % | cora | pubmed |",
        "|---|---|---|",
        "| PINE | **.750**(10) .900(10) .500(10) | **.700**(10) **.800**(10) .900(10) |",
        "| GAT | .600(10) .920(10) .400(10) |  |",
        "| GCN | .700(10) **.950**(10) .495(10) | .600(10) .750(10) – |",
        "| struc2vec |  | – – – |",
        "",
        f"At all ratios, {against} 4 of 5; {tests} 3 are won, 1 tied, 1 lost; {strict} 3, 1, 1. "
        f"{alone} GAT 2, 0, 1; GCN 3, 1, 1.",
        "",
        "| at 10, 50, 90 % | dblp, micro F1 | dblp, macro F1 |",
        "|---|---|---|",
        "| PINE | .700 .800 .900 | .250 .250 .250 |",
        "",
        "At all ratios: nothing to test.",
        "",
        "| accuracy with node features, on the public split, at 10 % | cora |",
        "|---|---|",
        "| PINE | **.700**(10) .800(10) |",
        "| GCN | .600(10) **.850**(10) |",
        "",
        f"On the public split and at all ratios, {against} 2 of 3; "
        f"{tests} 2 are won, 0 tied, 1 lost; {strict} 2, 0, 1. {alone} GCN 2, 0, 1.",
        "",
        find("features").notes[0],
        "",
        "| ppi, graphs never seen in training | method | micro F1 |",
        "|---|---|---|",
        "| A | PINE | **.625**(177) |",
        "| A | GraphSAGE-pool | .375(177) |",
        "| B | GAT | .250 |",
        "",
    ]


def test_the_best_of_the_methods_without_parts_of_pine_stands_beside_the_best_of_all(tmp_path):
    parts = "GCN on PINE's start + share"
    made = [
        row
        for name, leads in {"PINE": (0.7, 0.8, 0.9), parts: (0.8, 0.9, 0.95), "GCN": (0.6, 0.7, 0.8)}.items()
        for row in rows("cora", name, "accuracy", around(*leads))
    ]
    write_rows(made, tmp_path / "homogeneous.csv")
    sets = [row | {"macro_f1": 0.25} for row in rows("dblp", "PINE", "micro_f1", around(0.7, 0.8, 0.9))]
    for name, its_rows in [("features", made[:9]), ("heterogeneous", sets), ("ppi", sets[:1])]:
        write_rows(its_rows, tmp_path / f"{name}.csv")
    text = overview(tmp_path)["homogeneous"]
    assert "PINE has the higher mean in 0 of 3; by paired t-tests (p < .05, Holm) 0 are won, 0 tied, 3 lost" in text
    assert "Against the best of those without a part of PINE: the higher mean in 3, 3 won, 0 tied, 0 lost." in text


def test_label_sets_on_graphs_used_for_no_choice_are_shown_with_and_without_counts(tmp_path):
    few = rows("cora", "PINE", "accuracy", [[0.7], [0.8], [0.9]])
    given = {"macro_f1": 0.1, "oracle_k_micro_f1": 0.5, "oracle_k_macro_f1": 0.2}
    sets = [row | given for row in rows("pos", "PINE", "micro_f1", [[0.25], [0.25], [0.25]])]
    for name, its_rows in [("homogeneous", few), ("features", few), ("heterogeneous", sets), ("ppi", sets[:1])]:
        write_rows(its_rows, tmp_path / f"{name}.csv")
    write_rows(sets, tmp_path / "untouched-sets.csv")
    head = "| on graphs used for no choice, at 10, 50, 90 % | pos, micro F1 | pos, micro F1, counts given |"
    assert f"{head}\n|---|---|---|\n| PINE | .250 .250 .250 | .500 .500 .500 |" in overview(tmp_path)["untouched-sets"]


def test_each_step_from_print_to_the_default_says_what_it_changes(tmp_path):
    first, second = find("ladder").methods[:2]
    steps = [*rows("cora", first.name, "accuracy", around(0.25, 0.5, 0.5))]
    steps += rows("cora", second.name, "accuracy", around(0.5, 0.5, 0.5))
    write_rows(steps, tmp_path / "ladder.csv")
    head, _, *lines = ladder(tmp_path).splitlines()
    assert head.startswith("| mean accuracy on 1 graphs | print \u2192 here | 10 % | 50 % | 90 % |")
    assert lines[0] == "| as printed |  | .250 | .500 | .500 |  |  |"
    assert lines[1].startswith(f"| {second.name} | {second.change} | .500 | .500 | .500 | +25.0 +0.0 +0.0 |")
    assert all(method.change for method in find("ladder").methods[1:])


def test_a_folder_without_a_run_is_said(tmp_path):
    with pytest.raises(InputError, match=r"homogeneous\.csv does not hold the rows of an experiment"):
        overview(tmp_path)
