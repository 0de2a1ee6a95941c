"""Methods are scored on held-out edges; specs say how; fits are shared and splits are the same for all."""

from __future__ import annotations

import pytest
from support.links import WRITES, graph_of_types, planted

from pine import PINE, Graph, InputError
from pine.evaluation.link_runs import LINK_SCORES, evaluate_links, score_links
from pine.evaluation.link_specs import AUTO_SCORES, parse_link_spec
from pine.links import hold_out


def test_every_method_has_every_score_for_every_repeat():
    specs = [parse_link_spec(each) for each in ("pine:dim=8", "heuristics", "pagerank", "gae:epochs=20")]
    found = list(evaluate_links("planted", planted(), specs, [0.1], 2))
    assert [(each.method, each.repeat) for each in found[:4]] == [(spec.name, 0) for spec in specs]
    assert len(found) == 8
    assert all(tuple(each.scores) == LINK_SCORES for each in found)
    assert all(0 <= score <= 1 for each in found for score in each.scores.values())
    assert all(each.scores["auc"] > 0.6 for each in found)
    again = list(evaluate_links("planted", planted(), specs, [0.1], 2))
    assert [each.scores for each in again] == [each.scores for each in found]


def test_scores_of_the_same_vectors_share_a_fit(monkeypatch):
    fits: list[Graph] = []
    fit = PINE.fit

    def counted(self: PINE, graph: Graph) -> PINE:
        fits.append(graph)
        return fit(self, graph)

    monkeypatch.setattr(PINE, "fit", counted)
    names = ["pine:score=dot:dim=8", "pine:score=f:dim=8", "pine:score=bilinear:dim=8", "pine:dim=8"]
    specs = [parse_link_spec(name) for name in names]
    split = hold_out(planted(), 0)
    assert [spec.name for spec, _, _ in score_links(split, specs, 0)] == names
    assert [graph is split.graph for graph in fits] == [True, False]  # the second is without a tenth of the edges


def test_without_validation_edges_the_first_of_the_scores_is_taken():
    names = ["pine:score=auto:dim=4:epochs=0", *(f"pine:score={score}:dim=4:epochs=0" for score in AUTO_SCORES)]
    specs = [parse_link_spec(name) for name in names]
    auto, first, *others = [scores for _, scores, _ in score_links(hold_out(planted(), 0, valid=0.0), specs, 0)]
    assert auto == first
    assert all(auto != other for other in others)


def test_what_is_done_is_not_made_again_and_relations_are_held_out_one_by_one():
    specs = [parse_link_spec("adamic-adar"), parse_link_spec("propagation:dim=4")]
    graph = graph_of_types()
    found = list(evaluate_links("typed", graph, specs, [0.2], 1, {("adamic-adar", 0.2, 0, False)}, WRITES))
    assert [each.method for each in found] == ["propagation:dim=4"]
    with pytest.raises(InputError, match="say which: relation"):
        list(evaluate_links("typed", graph, specs, [0.2], 1))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pien", "did you mean 'pine'"),
        ("adamic-ada", "did you mean 'adamic-adar'"),
        ("pine:score=euclid", "score takes auto or one of"),
        ("deepwalk:score=f", "has no function f"),
        ("gcn", "learns from labels"),
        ("pagerank:alpha=1", "has no settings"),
        ("pine:spread=0.5", "leave"),
    ],
)
def test_a_wrong_spec_is_refused_in_a_sentence(spec, message):
    with pytest.raises(InputError, match=message):
        parse_link_spec(spec)
