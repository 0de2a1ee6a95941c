"""One f for the nodes of every type, of neighbors in groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from support.models import pine_with

from pine import PINE, Graph
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.settings import Form, FunctionSettings
from pine.nn import set_function_reference

SMALL = {
    "threads": 1,
    "dim": 8,
    "hidden": 16,
    "projections": 4,
    "scales": 4,
    "lam": 10.0,
    "label_share": 0.0,
    "scaling": "sqrt",
}
SIZES = FunctionSettings(hidden=16, projections=4, scales=4, scaling="sqrt")
FORM = Form(dim=8, groups="type", function=SIZES)
CPU = torch.device("cpu")

kind = np.arange(60) % 3
LINKS = [(a, b) for a in range(60) for b in range(a + 3, 60, 12)]
HAS = [(v, f"w{kind[v]}{i}") for v in range(60) for i in range(3) if (v + i) % 2]
RELATIONS = {("doc", "links", "doc"): LINKS, ("doc", "has", "word"): HAS}
TYPED = Graph.from_relations(RELATIONS, nodes={"doc": range(60)})
SEEN = {"doc": np.where(np.arange(60) % 2, kind, -1)}


def made(graph: Graph, form: Form = FORM) -> Any:
    groups = list(form.neighbor_groups(graph).values())
    neighborhoods = Neighborhoods.of(graph, groups, form.function.scaling, CPU, None)
    return NeighborFunction(form, [neighborhoods], torch.Generator().manual_seed(0))


def vectors(graph: Graph) -> torch.Tensor:
    return torch.randn(graph.num_nodes, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("by", ["type", "relation", "all"])
def test_f_is_the_set_function_of_all_neighbors(by):
    form = replace(FORM, groups=by)
    f, x = made(TYPED, form), vectors(TYPED)
    matrices = [group.matrix for group in form.neighbor_groups(TYPED).values()]
    torch.testing.assert_close(f(x), set_function_reference(f.of_sets, [x] * len(matrices), matrices))


@pytest.mark.parametrize("heads", ["shared", "separate"])
def test_groups_are_tied_at_first_so_that_a_typed_function_begins_blind_to_types(heads):
    form = replace(FORM, function=replace(SIZES, scaling="sum", heads=heads))
    f, x = made(TYPED, form).of_sets, vectors(TYPED)
    matrices = [group.matrix for group in form.neighbor_groups(TYPED).values()]
    swapped = set_function_reference(f, [x] * 2, matrices[::-1])
    torch.testing.assert_close(set_function_reference(f, [x] * 2, matrices), swapped)
    printed = made(TYPED, replace(form, function=replace(form.function, conditioned=False))).of_sets
    assert not torch.equal(printed.a[0], printed.a[1])  # the paper's groups share nothing


def test_neighbors_of_a_kind_that_was_not_there_in_training_say_nothing():
    relations = {("doc", "has", "word"): HAS, ("word", "near", "word"): []}
    model = pine_with(epochs=5, groups="relation", **SMALL).fit(Graph.from_relations(relations), SEEN)
    near = {("word", "near", "word"): [("w00", "new"), ("w10", "new")]}
    later = Graph.from_relations(relations | near)
    without = Graph.from_relations(relations, nodes={"doc": range(60), "word": later.ids("word")})
    np.testing.assert_allclose(model.transform(later)["word"], model.transform(without)["word"], atol=1e-6)


def test_types_without_nodes_and_without_neighbors_do_no_harm():
    graph = Graph.from_relations(RELATIONS, nodes={"none": [], "doc": range(60), "alone": ["a", "b"]})
    out = made(graph)(vectors(graph))
    assert out.shape == (graph.num_nodes, 8)
    alone = out[graph.nodes.slice("alone")]
    assert torch.equal(alone[0], alone[1])
    model = pine_with(epochs=5, **SMALL).fit(graph, SEEN)
    assert all(np.isfinite(found).all() for found in model.embedding_.values())


def test_a_model_of_a_typed_graph_learns_transforms_and_is_saved(tmp_path):
    model = pine_with(epochs=60, **SMALL).fit(TYPED, SEEN)
    assert (model.predict() == kind).mean() > 0.9
    grown = Graph.from_relations(
        {("doc", "has", "word"): [*HAS, ("new", "w00"), ("new", "w01")], ("doc", "links", "doc"): LINKS},
        nodes={"word": TYPED.ids("word"), "doc": [*range(60), "new"]},
    )
    found = model.transform(grown)
    np.testing.assert_array_equal(found["doc"][:60], model.embedding_["doc"])
    np.testing.assert_array_equal(found["word"], model.embedding_["word"])
    assert model.predict(["new"], graph=grown).tolist() == [0]
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.transform(grown)["doc"], found["doc"])
    for type, f in model.reconstruct().items():
        np.testing.assert_array_equal(loaded.reconstruct()[type], f)
