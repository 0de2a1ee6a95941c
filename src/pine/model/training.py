"""The one training loop: Adam on everything at once, a history, and a stop with a sentence when numbers blow up."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from pine.errors import InputError
from pine.model.checkpoint import Keeper
from pine.model.objective import Objective

RAMP = 100  # epochs until unlabelled nodes' own predictions count in full, where theta is new
LOOK = 25  # epochs between two looks at the loss: each makes a GPU wait


def train(
    objective: Objective,
    epochs: int,
    rate: float,
    vector_rate: float,
    generator: torch.Generator,
    *,
    at: Iterable[int] = (),
    visit: Callable[[int], None] | None = None,
    tick: Callable[[int], None] | None = None,
    ramp: int = RAMP,
    still: int = 0,
    keeper: Keeper | None = None,
) -> list[dict[str, float]]:
    """Train for some epochs; visit(epoch) is called at the given ones, with dropout off.

    ramp: epochs until what trusts own predictions counts in full. still: epochs in which x stays where it is: without
    labels, an f that has not learned yet would only blur it. tick hears of epochs that are done; keeper goes on where
    an interrupted training was.
    Returns the parts of the loss epoch by epoch, averaged over the models trained side by side.
    """
    stops = set(at)
    own = [parameter for name, parameter in objective.named_parameters() if name != "e" and parameter.requires_grad]
    groups = [{"params": [objective.e], "lr": vector_rate}, {"params": own, "lr": rate}]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99), fused=True)
    lines = [] if keeper is None else keeper.restore(objective, optimizer, generator)
    names: list[str] = []
    if tick is not None:
        tick(len(lines))
    for epoch in range(len(lines) + 1, epochs + 1):
        objective.train()
        optimizer.param_groups[0]["lr"] = vector_rate if epoch > still else 0.0
        optimizer.zero_grad(set_to_none=True)
        names, line = _backward(objective, generator, min(1.0, epoch / ramp))
        optimizer.step()
        lines.append(line)
        if epoch % LOOK == 0 or epoch in stops or epoch == epochs:
            _check_finite(lines, names)
        if tick is not None:
            tick(1)
        if visit is not None and epoch in stops:
            objective.eval()
            visit(epoch)
        if keeper is not None and epoch < epochs:
            keeper.epoch_done(objective, optimizer, generator, lines)
    objective.eval()
    return [dict(zip(names, line, strict=True)) for line in torch.stack(lines).tolist()]


def _backward(objective: Objective, generator: torch.Generator, ramp: float) -> tuple[list[str], Tensor]:
    """Add up the gradients of all batches; the parts of the loss, and their means over the models."""
    lines, names = [], []
    for batch in objective.batches:
        parts = objective.loss(generator, ramp, batch)
        loss = torch.stack(list(parts.values()))
        loss.sum().backward()  # type: ignore[no-untyped-call]
        names = list(parts)
        lines.append(loss.detach().mean(-1))
    return names, lines[0] if len(lines) == 1 else torch.stack(lines).sum(0)


def _check_finite(lines: list[Tensor], names: list[str]) -> None:
    """The parts of the loss, epoch by epoch, must be numbers."""
    since = torch.stack(lines[-LOOK:])
    bad = (~since.isfinite().all(-1)).nonzero()[:, 0].tolist()
    if bad:
        epoch = len(lines) - len(since) + bad[0] + 1
        said = ", ".join(f"{name} {value:.3g}" for name, value in zip(names, since[bad[0]].tolist(), strict=True))
        raise InputError(
            f"training diverged in epoch {epoch}: the parts of the loss are {said}; "
            "lower learning_rate, or scale the edge weights down"
        )
