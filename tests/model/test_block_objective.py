"""A step block by block is the step at once: terms, gradients, vectors, predictions, but for the order of additions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pine import Graph
from pine._internal.mapped import MappedArrays
from pine._internal.progress import ProgressCounter
from pine.distributed.part import Whole
from pine.labels import read_labels
from pine.model import block_objective
from pine.model.block_objective import BlockObjective
from pine.model.block_part import DevicePart
from pine.model.checkpoint import Checkpoint
from pine.model.mapped_part import MappedPart
from pine.model.settings import Settings, TrainingSettings
from pine.model.training import FitState, Trainer

KINDS = ["one type", "two types", "directed", "weighted"]
PLACES = ["files", "device"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_objective, "NODES_OF_BLOCK", 17)


def graph_of(kind):
    rng = np.random.default_rng(0)
    if kind == "two types":
        sides = {("a", "knows", "a"): (60, 60), ("a", "has", "b"): (60, 40)}
        relations = {name: np.stack([rng.integers(0, end, 150) for end in ends], 1) for name, ends in sides.items()}
        return Graph.from_relations(relations, nodes={"a": range(60), "b": range(40)})
    edges = rng.integers(0, 100, (300, 2))
    weights = rng.random(300) if kind == "weighted" else None
    return Graph.from_edges(edges, nodes=range(100), directed=kind == "directed", weights=weights)


def trainers(graph, folder, task="classes", place="files", **changes):
    """The same at once and in blocks, which lie in files or in the memory of a device, here a CPU."""
    rng = np.random.default_rng(1)
    count = graph.count(graph.node_types[0])
    values = {
        "classes": rng.integers(-1, 3, count),
        "label-sets": rng.integers(0, 2, (count, 3)),
        "numbers": rng.standard_normal(count),
    }[task]
    given = values if len(graph.node_types) == 1 else {graph.node_types[0]: values}
    labels = read_labels(graph, given, task)
    device = "cuda" if place == "GPU" else "cpu"
    settings = Settings(dim=8, threads=1, device=device, training=TrainingSettings(**changes))
    start = {"x": rng.standard_normal((graph.num_nodes, 8)).astype(np.float32)}
    made = []
    blocks = {
        "files": lambda: MappedPart(graph, MappedArrays(folder), 3),
        "device": lambda: DevicePart(graph, torch.device(device)),
        "GPU": lambda: DevicePart(graph, torch.device(device)),
    }
    for part in (Whole(100, graph.nodes), blocks[place]()):
        state = FitState(np.random.default_rng(5), Checkpoint(None, ""), ProgressCounter(None, ""), part)
        made.append(Trainer(settings, graph, labels, np.ones(len(labels.known), bool), state, start))
    return made


def objectives(graph, folder, lam=(3.0,), **changes):
    at_once, in_blocks = (
        each.objective(lam, np.ones(len(each.labels.known), bool)) for each in trainers(graph, folder, **changes)
    )
    assert isinstance(in_blocks, BlockObjective)
    return at_once, in_blocks


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_begins_where_it_begins_at_once(tmp_path, kind, place):
    at_once, in_blocks = objectives(graph_of(kind), tmp_path, place=place)
    named = dict(at_once.named_parameters())
    for name, got in in_blocks.named_parameters():
        if name != "f.of_sets.c":  # of fewer nodes than hidden units it is not determined well; what it gives is
            torch.testing.assert_close(got, named[name], rtol=1e-5, atol=1e-6, msg=name)
    torch.testing.assert_close(in_blocks.vectors()[1], at_once.vectors()[1], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_terms_and_gradients_of_a_step_are_those_at_once(tmp_path, kind, task, place):
    graph = graph_of(kind)
    lam = (3.0, 0.5) if kind == "two types" else (3.0,)
    at_once, in_blocks = objectives(graph, tmp_path, lam, task=task, place=place)
    in_blocks.begin_at(at_once.state_dict())
    found = []
    for each in (at_once, in_blocks):
        each.train()
        found.append(each.backward(torch.Generator().manual_seed(7), torch.tensor(0.7)))
    (names, wanted), (got_names, got) = found
    assert got_names == names
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-6)
    for (name, ours), (_, theirs) in zip(in_blocks.named_parameters(), at_once.named_parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6, msg=name)


def test_without_dropout_and_entropy_it_is_the_same_too(tmp_path):
    at_once, in_blocks = objectives(graph_of("one type"), tmp_path, dropout=0.0, entropy=0.0, supervise_f=False)
    in_blocks.begin_at(at_once.state_dict())
    for each in (at_once, in_blocks):
        each.train().backward(torch.Generator().manual_seed(7), torch.tensor(1.0))
    torch.testing.assert_close(in_blocks.x.grad, at_once.x.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_and_predictions_are_those_at_once(tmp_path, kind, place):
    graph = graph_of(kind)
    at_once, in_blocks = objectives(graph, tmp_path, place=place)
    in_blocks.begin_at(at_once.state_dict())
    for got, wanted in zip(in_blocks.vectors(), at_once.vectors(), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)
    some = np.array([0, 3, 20, 59])
    part = in_blocks.part
    torch.testing.assert_close(in_blocks.predictions_at(some, part), at_once.predictions_at(some, part))


@pytest.mark.parametrize("place", PLACES)
def test_several_epochs_end_at_the_same_vectors(tmp_path, place):
    ends = []
    for trainer in trainers(graph_of("two types"), tmp_path, place=place):
        objective = trainer.objective((3.0,), np.ones(len(trainer.labels.known), bool))
        writer = Checkpoint(None, "").writer("last", np.random.default_rng(0), None)
        history = trainer.train(objective, 6, writer)
        ends.append((objective.x.detach().clone(), history))
    (wanted, its_history), (got, history) = ends
    torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-3)
    for row, other in zip(history, its_history, strict=True):
        assert row == pytest.approx(other, rel=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_on_a_gpu_terms_and_gradients_without_dropout_are_those_at_once(tmp_path, kind, task, monkeypatch):
    monkeypatch.setattr(block_objective, "NODES_OF_GPU_BLOCK", 17)
    at_once, in_blocks = objectives(graph_of(kind), tmp_path, task=task, place="GPU", dropout=0.0)
    in_blocks.begin_at(at_once.state_dict())
    found = []
    for each in (at_once, in_blocks):
        found.append(each.train().backward(torch.Generator("cuda").manual_seed(7), torch.tensor(0.7, device="cuda")))
    torch.testing.assert_close(found[1][1], found[0][1], rtol=1e-4, atol=1e-5)
    for (name, ours), (_, theirs) in zip(in_blocks.named_parameters(), at_once.named_parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-5, msg=name)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu_both_passes_over_a_block_drop_the_same(tmp_path):
    _, in_blocks = objectives(graph_of("one type"), tmp_path, place="GPU", dropout=0.5)
    f = in_blocks.train().f.of_sets
    (key,) = f.draw_keys(torch.Generator("cuda").manual_seed(7))
    x = in_blocks.x.detach()
    one, same, other = (f.messages_of(0, x, key, first) for first in (0, 0, 100))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
