"""Maps: what is kept of them, and whether classes cluster."""

from __future__ import annotations

import numpy as np
import pytest
from support.reproduce import SMALL

from pine.evaluation.protocol import Part
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.kinds.maps import MAP_REVISION, TSNEMap, chance_purity, purity
from pine.reproduce.kinds.scores import Score
from pine.reproduce.outcome import outcome_of
from pine.reproduce.runner import Runner
from pine.reproduce.tasks import Machine

MAPS = SMALL | {"kind": "maps", "methods": [{"name": "LP", "spec": "label-propagation"}], "ratios": [0.9]}
CLUSTERS = {"text": "t", "place": "p", "check": "clusters"}


def checked(rows):
    experiment = experiment_of("maps", MAPS | {"claims": [CLUSTERS]})
    return KINDS["maps"].verdicts(experiment, rows)[0]


def test_maps_cluster_where_near_nodes_share_a_class():
    rng = np.random.default_rng(0)
    classes = np.arange(200) % 2
    apart = np.stack([classes * 10.0, 0 * classes], 1) + rng.normal(size=(200, 2))

    def rows(places):
        return [
            {"dataset": "cora", "x": x, "y": y, "true": int(c), "predicted": int(c)}
            for (x, y), c in zip(places, classes, strict=True)
        ]

    assert checked(rows(apart)).summary == "holds"
    assert "at least halfway from chance to all" in checked(rows(apart)).rule
    assert checked(rows(rng.normal(size=(200, 2)))).summary == "does not hold"


def test_purity_is_the_share_of_near_nodes_of_the_own_class():
    points, classes = np.array([[0.0, 0], [0, 1], [9, 0], [9, 1]]), np.array([0, 0, 1, 1])
    assert purity(points, classes, neighbors=1) == 1.0
    assert purity(points, classes) == pytest.approx(1 / 3)  # all three others
    assert chance_purity(np.array([0, 0, 0, 1])) == pytest.approx((9 + 1) / 16)


def test_a_map_has_a_point_for_every_test_node_with_its_true_and_predicted_class(runner, tmp_path):
    experiment = experiment_of("maps", MAPS | {"claims": []})
    rows = outcome_of(experiment, runner).rows
    assert len(rows) == 271  # a tenth of Cora
    assert list(rows[0]) == ["dataset", "x", "y", "true", "predicted"]
    assert np.mean([row["true"] == row["predicted"] for row in rows]) > 0.8
    assert "| cora | 271 |" in KINDS["maps"].tables(experiment, rows)
    assert [picture.path.name for picture in KINDS["maps"].figures(experiment, rows, tmp_path)] == ["maps-cora.png"]
    assert "Reinforcement Learning" in (tmp_path / "maps-cora.svg").read_text()


def test_a_map_that_was_not_made_has_one_row_that_says_so(runner):
    experiment = experiment_of("maps", MAPS | {"claims": []})

    class Nothing(Runner):
        def __init__(self) -> None:
            pass

        def results(self, tasks, what):
            return {task: {"stopped": "time", "message": "too long"} for task in tasks}

    assert KINDS["maps"].rows(experiment, Nothing()) == [
        {"dataset": "cora", "stopped": "not made: nothing is kept of it"}
    ]


def test_the_key_of_a_map_is_that_of_its_score_and_the_revision_of_maps():
    sources = TSNEMap("cora", "pine", 0.5).sources(Machine())
    assert sources == {"revision": MAP_REVISION, "score": Score("cora", "pine", 0, Part(0.5, 0)).sources(Machine())}
