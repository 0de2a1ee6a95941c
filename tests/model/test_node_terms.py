"""Terms that are made block by block are those of all nodes at once, and so are their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.models import pine_with

import pine.model.objective as objective_module
from pine import Graph
from pine.datasets import planted_classes
from pine.labels import read_labels
from pine.model.node_terms import NodeBlock, VisibleTargets, _terms, node_terms
from pine.model.objective import Objective
from pine.model.settings import TrainingSettings
from pine.nn.functional import entropy, entropy_slope, probabilities, probability_slope
from pine.nn.targets import Targets
from pine.nn.threads import sleeping_threads

RNG = np.random.default_rng(0)
GRAPH = Graph.from_edges(RNG.integers(0, 50, (120, 2)), nodes=range(50))
LABELS = {
    "classes": np.where(RNG.random(50) < 0.5, RNG.integers(0, 4, 50), -1),
    "label-sets": np.where(RNG.random((50, 1)) < 0.5, RNG.integers(0, 2, (50, 6)), -1),  # more than count in full
    "numbers": np.where(RNG.random(50) < 0.5, RNG.standard_normal(50), np.nan),
}


def made(
    task: str | None, size: int | None, threads: int = 2, times: float = 1.0, **changes
) -> tuple[dict[str, float], list[torch.Tensor]]:
    """The terms, and the gradients of times their sum in x, f and theta, in blocks of a size; None: the definition."""
    draw = torch.Generator().manual_seed(0)
    settings, visible, outputs = TrainingSettings(**changes), None, 0
    if task is not None:
        labels = read_labels(GRAPH, LABELS[task], task)
        seen = torch.tensor(np.arange(len(labels.known)) % 3 > 0).double()
        visible, outputs = VisibleTargets(Targets.of(GRAPH, labels, torch.device("cpu")), seen), labels.num_outputs
    shapes = [(50, 6), (50, 6), (outputs, 6), (1, outputs)]
    given = [torch.randn(shape, generator=draw, dtype=torch.float64, requires_grad=True) for shape in shapes]
    blocks = []
    for lo in range(0, 50, size or 50):
        rows = slice(lo, min(lo + (size or 50), 50))
        share = (rows.stop - lo) / 50
        mine, labeled = (None, 1.0) if visible is None else visible.within(rows, visible.seen.sum())
        blocks.append(NodeBlock(rows, mine, torch.tensor(2.0 / share), share, labeled))
    with sleeping_threads(threads):
        x, f, w, b = given
        rest = x, f, w, b, settings, torch.tensor(0.7)
        terms = node_terms(blocks, *rest) if size else _terms(blocks[0], *rest)
        (times * torch.stack(list(terms.values())).sum()).backward()
    return {name: float(term.detach()) for name, term in terms.items()}, [z.grad for z in given if z.grad is not None]


@pytest.mark.parametrize("changes", [{}, {"entropy": 0.0}, {"supervise_f": False}])
@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_blocks_give_the_terms_of_the_definition_and_their_gradients(task, changes):
    whole, gradients = made(task, None, **changes)
    for size in (1, 7, 49, 50):  # some blocks have no label that is seen
        terms, found = made(task, size, **changes)
        assert terms == pytest.approx(whole)
        for one, other in zip(found, gradients, strict=True):
            torch.testing.assert_close(one, other)


def test_gradients_grow_with_what_the_sum_is_multiplied_by_and_those_of_single_terms_are_refused():
    for one, three in zip(made("classes", 7)[1], made("classes", 7, times=3.0)[1], strict=True):
        torch.testing.assert_close(3 * one, three)
    x = torch.ones(50, 6, requires_grad=True)
    labels = read_labels(GRAPH, LABELS["classes"], "classes")
    visible = VisibleTargets(Targets.of(GRAPH, labels, torch.device("cpu")), torch.ones(len(labels.known)))
    block = NodeBlock(slice(0, 50), visible, torch.tensor(1.0), 1.0, 1.0)
    terms = node_terms([block], x, 2 * x, torch.ones(4, 6), torch.zeros(1, 4), TrainingSettings(), 1.0)
    with pytest.raises(RuntimeError, match="call backward on the sum"):
        terms["labels"].backward()


def test_nodes_that_are_all_but_sure_have_the_gradients_of_the_definition():
    """Where a probability is at the end of what the entropy looks at, its slope is none."""
    scores = torch.tensor([[40.0, 0.0, -40.0], [3.0, 1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    for task in ("classes", "label-sets"):
        (expected,) = torch.autograd.grad(entropy(task, probabilities(task, scores)).sum(), scores)
        p = probabilities(task, scores.detach())
        torch.testing.assert_close(probability_slope(task, p, entropy_slope(task, p)), expected)
        sure = torch.tensor([[0.0, 1.0, 1e-9], [0.2, 0.3, 0.5]], dtype=torch.float64, requires_grad=True)
        (of_p,) = torch.autograd.grad(entropy(task, sure).sum(), sure)
        torch.testing.assert_close(entropy_slope(task, sure.detach()), of_p)


def test_without_labels_there_is_agreement_alone():
    (whole, _), (terms, found) = made(None, None), made(None, 7)
    assert terms == pytest.approx(whole)
    assert list(terms) == ["agreement"]
    assert float(found[0].abs().min()) > 0


def test_bits_do_not_depend_on_the_number_of_threads():
    for one, other in zip(made("classes", 3, threads=1)[1], made("classes", 3, threads=4)[1], strict=True):
        assert torch.equal(one, other)


def test_arrays_of_nodes_by_classes_are_not_kept():
    """What is kept for the way back is x's and f's gradients alone."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.data_ptr()] = tensor.numel()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        made("classes", 5)
    assert max(kept.values()) == 50 * 6


def test_a_fit_in_many_blocks_is_one_in_a_single_block(monkeypatch):
    """On a graph of which two threads have several blocks each, in all layers."""
    graph, classes = planted_classes(5000, classes=5)
    model = pine_with(dim=8, epochs=5, label_share=0.0, threads=2, device="cpu")
    many = model.fit(graph, classes).embedding_
    monkeypatch.setattr(objective_module, "NODES_AT_A_TIME", 5000)
    np.testing.assert_allclose(model.fit(graph, classes).embedding_, many, atol=1e-3)


def test_an_objective_is_cut_into_blocks_that_hold_every_node_once(monkeypatch):
    monkeypatch.setattr(objective_module, "NODES_AT_A_TIME", 7)
    from pine.model.neighborhoods import NeighborFunction, Neighborhoods
    from pine.model.settings import Form, FunctionSettings

    form = Form(6, "type", FunctionSettings(hidden=4, projections=2, scales=2))
    groups = list(form.neighbor_groups(GRAPH).values())
    neighborhoods = Neighborhoods.of(GRAPH, groups, "sqrt", torch.device("cpu"), None)
    f = NeighborFunction(form, [neighborhoods], torch.Generator().manual_seed(0))
    (batch,) = Objective(f, [slice(0, 50)], torch.tensor([2.0]), TrainingSettings()).batches
    assert [(block.rows.start, block.rows.stop) for block in batch.blocks] == [
        (lo, min(lo + 7, 50)) for lo in range(0, 50, 7)
    ]
    assert sum(block.share for block in batch.blocks) == pytest.approx(1)
    assert sum(1 / float(block.lam) for block in batch.blocks) == pytest.approx(1 / 2)
