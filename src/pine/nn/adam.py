"""Adam (Kingma and Ba, 2015) by torch's own kernel, one pass over all that it reads and writes.

Moments may be kept in bfloat16; a step then goes on in float32, some rows at a time, and rounds.

torch.optim.Adam is the same, but the first one of a process imports torch's compiler, which takes as long as a fit on a
small graph, and its steps on small arrays spend more time in Python than in the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam

EPSILON = 1e-8
ROUNDED_ROWS = 1 << 18  # at a time
MOMENTS = "exp_avg", "exp_avg_sq"


class Adam:
    """groups: dictionaries of params, with lr and weight_decay of their own or without.

    On a GPU the rates are tensors, which a captured step reads anew. zeros_like: makes room for a moment.
    """

    def __init__(
        self,
        groups: Sequence[Mapping[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        zeros_like: Callable[[Any], Tensor] = lambda parameter: torch.zeros_like(parameter.detach()),
    ) -> None:
        self.betas = betas
        self.param_groups = [{"lr": lr, "weight_decay": 0.0} | dict(group) for group in groups]
        self.state: list[dict[str, Tensor]] = []  # of all parameters, in the order of their groups
        for group in self.param_groups:
            params = group["params"]
            if params and params[0].is_cuda:
                group["lr"] = torch.tensor(group["lr"], dtype=torch.float32, device=params[0].device)
            for each in params:
                moments = {name: zeros_like(each) for name in MOMENTS}
                self.state.append({"step": torch.zeros((), dtype=torch.float32, device=each.device)} | moments)

    def set_rate(self, group: int, rate: float) -> None:
        """The learning rate of one group from now on."""
        held = self.param_groups[group]
        if isinstance(held["lr"], Tensor):
            held["lr"].fill_(rate)
        else:
            held["lr"] = rate

    def zero_grad(self) -> None:
        for group in self.param_groups:
            for each in group["params"]:
                each.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step of all parameters that have a gradient."""
        first = 0
        for group in self.param_groups:
            params = group["params"]
            of_group = zip(params, self.state[first : first + len(params)], strict=True)
            first += len(params)
            moving = [(each, each.grad, state) for each, state in of_group if each.grad is not None]
            self._move([each for each in moving if each[0].dtype == each[2]["exp_avg"].dtype], group)
            for each, grad, state in moving:
                if each.dtype != state["exp_avg"].dtype:
                    self._move_and_round(each, grad, state, group)

    def _move(self, moving: Sequence[tuple[Tensor, Tensor, dict[str, Tensor]]], group: Mapping[str, Any]) -> None:
        """Parameters, their gradients and states."""
        if not moving:
            return
        adam(
            params=[each for each, _, _ in moving],
            grads=[grad for _, grad, _ in moving],
            exp_avgs=[state["exp_avg"] for _, _, state in moving],
            exp_avg_sqs=[state["exp_avg_sq"] for _, _, state in moving],
            max_exp_avg_sqs=[],
            state_steps=[state["step"] for _, _, state in moving],
            fused=True,
            capturable=isinstance(group["lr"], Tensor),
            amsgrad=False,
            beta1=self.betas[0],
            beta2=self.betas[1],
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=EPSILON,
            maximize=False,
        )

    def _move_and_round(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Tensor], group: Mapping[str, Any]
    ) -> None:
        """A parameter whose moments have fewer digits."""
        for lo in range(0, len(parameter), ROUNDED_ROWS):
            rows = slice(lo, lo + ROUNDED_ROWS)
            exact = {name: state[name][rows].to(parameter.dtype) for name in MOMENTS}
            exact["step"] = state["step"].clone()
            self._move([(parameter[rows], grad[rows], exact)], group)
            for name in MOMENTS:
                state[name][rows] = exact[name]
        state["step"] += 1
