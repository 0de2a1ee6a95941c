"""The terms of the loss, all of them sums over nodes, made block by block together with their gradients.

On a CPU the scores of a block stay in a core's cache, threads share the blocks, and arrays of nodes x classes are never
there; a GPU takes all nodes of a batch at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pine.model.settings import TrainingSettings
from pine.model.theta import scores
from pine.nn.functional import entropy, entropy_slope, probabilities, probability_slope
from pine.nn.given_gradients import with_gradients
from pine.nn.losses import agreement
from pine.nn.targets import Targets
from pine.nn.threads import empty, over_nodes

NODES_AT_A_TIME = 4096  # on a CPU
# The entropy of more labels than these counts as that of so many. The sum over 39 labels, most of them rare, outweighs
# agreement with the neighbors: nodes are drawn to having no label. On held-out labels of blogcatalog-10312 it cost up
# to 5 points of micro F1; on dblp, with 4 labels, less entropy costs.
ENTROPY_LABELS = 4


@dataclass(frozen=True, eq=False)
class VisibleTargets:
    """Labels, at ascending positions, and which of them are seen: (n,) of 0 and 1."""

    targets: Targets
    seen: Tensor

    def within(self, rows: slice, total: Tensor) -> tuple[VisibleTargets, Tensor]:
        """The labels of some nodes, positions counted from the first node, and their share of the seen ones, total."""
        ends = torch.tensor([rows.start, rows.stop], device=self.targets.positions.device)
        here = slice(*torch.searchsorted(self.targets.positions, ends).tolist())
        mine = self.targets.some(here).shifted(-rows.start)
        return VisibleTargets(mine, self.seen[here]), self.seen[here].sum() / total


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Nodes whose terms are made at once: where they stand in their batch, and their labels.

    lam: lambda, divided by the share that the nodes are of all that it speaks of.
    share: of all nodes. labeled: of the labels that are seen.
    """

    rows: slice
    visible: VisibleTargets | None
    lam: Tensor
    share: float
    labeled: Tensor | float


def _entropy_weight(settings: TrainingSettings, targets: Targets) -> float:
    """How much a node's entropy counts, which of a label set is the sum over labels."""
    few = targets.task != "label-sets" or targets.num_outputs <= ENTROPY_LABELS
    return settings.entropy if few else settings.entropy * ENTROPY_LABELS / targets.num_outputs


def node_terms(
    blocks: Sequence[NodeBlock],
    x: Tensor,
    f: Tensor,
    w: Tensor,
    b: Tensor,
    settings: TrainingSettings,
    warmup: Tensor | float,
) -> dict[str, Tensor]:
    """The terms of all nodes of a batch, scalars to be summed: only the gradient of their sum is right.

    x, f: (nodes, dim). w (num_outputs, dim), b (1, num_outputs): theta. warmup scales the entropy.
    """
    if x.device.type == "cpu":
        terms, gradients = terms_and_gradients(blocks, x, f, w, b, settings, warmup)
        return with_gradients(terms, (x, f, w, b), gradients)
    each = [_terms(block, x[block.rows], f[block.rows], w, b, settings, warmup) for block in blocks]
    return each[0] if len(each) == 1 else {name: torch.stack([one[name] for one in each]).sum() for name in each[0]}


def _terms(
    block: NodeBlock, x: Tensor, f: Tensor, w: Tensor, b: Tensor, settings: TrainingSettings, warmup: Tensor | float
) -> dict[str, Tensor]:
    """The definition: x and f of a block."""
    terms = {"agreement": agreement(x, f) / block.lam}
    if block.visible is None:
        return terms
    targets, seen = block.visible.targets, block.visible.seen
    # Of all nodes once: the gradient of picking labeled vectors would be arrays as large as x, nearly all zeros.
    of_x = scores(x, w, b)
    of_f = scores(f, w, b) if settings.supervise_f else of_x
    terms["labels"] = block.labeled * targets.loss(of_x, seen)
    if settings.supervise_f:
        terms["labels of f"] = block.labeled * targets.loss(of_f, seen)
    if settings.entropy > 0 and targets.task != "numbers":
        # Unlabeled nodes should be sure of their class: the boundary moves to where there are few nodes.
        p = (probabilities(targets.task, of_x) + probabilities(targets.task, of_f)) / 2
        unsure = entropy(targets.task, p)
        hidden = torch.ones_like(unsure).index_copy(0, targets.positions, 1 - seen)
        terms["entropy"] = block.share * _entropy_weight(settings, targets) * warmup * (unsure * hidden).mean()
    return terms


def _terms_and_gradients(
    block: NodeBlock, x: Tensor, f: Tensor, w: Tensor, b: Tensor, settings: TrainingSettings, warmup: Tensor | float
) -> tuple[dict[str, Tensor], list[Tensor]]:
    """The same, and the gradients of their sum in x, f, w and b, by hand: a few passes where autograd makes dozens."""
    difference = x - f
    terms = {"agreement": torch.linalg.vecdot(difference.flatten(), difference.flatten()) / (len(x) * block.lam)}
    dx = difference.mul_(2 / (len(x) * block.lam))
    gradients = [dx, -dx, torch.zeros_like(w), torch.zeros_like(b)]
    if block.visible is None:
        return terms, gradients
    targets, seen = block.visible.targets, block.visible.seen
    sides = {"labels": x, "labels of f": f} if settings.supervise_f else {"labels": x}
    of_sides = [scores(z, w, b) for z in sides.values()]
    p = [probabilities(targets.task, each) for each in of_sides]
    weights, slopes = block.labeled * seen / seen.sum().clamp(min=torch.finfo(seen.dtype).tiny), []
    for name, each, q in zip(sides, of_sides, p, strict=True):
        terms[name] = block.labeled * targets.loss(each, seen)
        slope = targets.loss_slope(q.index_select(0, targets.positions), weights)
        slopes.append(torch.zeros_like(q).index_copy_(0, targets.positions, slope))
    if settings.entropy > 0 and targets.task != "numbers":
        mean = sum(p[1:], p[0]) / len(p)
        hidden = mean.new_ones(len(mean)).index_copy_(0, targets.positions, 1 - seen)
        scale = block.share * _entropy_weight(settings, targets) * warmup / len(x)
        terms["entropy"] = scale * torch.dot(entropy(targets.task, mean), hidden)
        pull = entropy_slope(targets.task, mean).mul_((hidden * (scale / len(p)))[:, None])
        for slope, q in zip(slopes, p, strict=True):
            slope += probability_slope(targets.task, q, pull)
    for z, dz, slope in zip(sides.values(), gradients[:2], slopes, strict=False):
        dz.addmm_(slope, w)
        gradients[2].addmm_(slope.mT, z)
        gradients[3].add_(slope.sum(0))
    return terms, gradients


@torch.no_grad()
def terms_and_gradients(
    blocks: Sequence[NodeBlock], x: Tensor, f: Tensor, w: Tensor, b: Tensor, *rest: Any
) -> tuple[dict[str, Tensor], tuple[Tensor, Tensor, Tensor, Tensor]]:
    """The terms of node_terms, and the gradients of their sum in x, f, w and b, which need none to begin with."""
    if x.device.type != "cpu" and len(blocks) == 1:
        terms, (dx, df, dw, db) = _terms_and_gradients(blocks[0], x, f, w, b, *rest)
        return terms, (dx, df, dw, db)
    dx, df = (empty(*x.shape, like=x) if x.device.type == "cpu" else torch.empty_like(x) for _ in range(2))
    # A sum for each block, so that the order of additions does not depend on threads.
    dw, db = w.new_empty(len(blocks), *w.shape), b.new_empty(len(blocks), *b.shape)
    each: list[dict[str, Tensor]] = [{}] * len(blocks)

    def add(first: int, last: int) -> None:
        for k in range(first, last):
            rows = blocks[k].rows
            each[k], gradients = _terms_and_gradients(blocks[k], x[rows], f[rows], w, b, *rest)
            for total, gradient in zip((dx[rows], df[rows], dw[k], db[k]), gradients, strict=True):
                total.copy_(gradient)

    over_nodes(add, len(blocks), 1)
    terms = {name: torch.stack([one[name] for one in each]).sum() for name in each[0]}
    return terms, (dx, df, dw.sum(0), db.sum(0))
