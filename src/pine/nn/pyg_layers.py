"""PINE's function of neighbors as layers of PyTorch Geometric: an aggregation of messages, and a convolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter, is_lazy
from torch_geometric.nn import Aggregation, Linear, MessagePassing
from torch_geometric.nn.resolver import normalization_resolver
from torch_geometric.utils import is_sparse, is_torch_sparse_tensor, scatter, to_edge_index

from pine.errors import InputError, one_of
from pine.nn.neighbor_sum import SCALINGS
from pine.nn.set_function import SetFunction

UNKNOWN = -1  # as PyTorch Geometric has it


class _LayerFunction(SetFunction):
    """A set function of K groups whose sums are made elsewhere, with an optional norm after the sum.

    M = -1: the directions a are made when the first input, or a saved state, says how long they are.
    """

    def __init__(self, M: int, d: int, groups: int, scaling: str, norm: str | None, **options: Any) -> None:
        super().__init__([abs(M)] * groups, d, scaling=scaling, conditioned=True, centered=True, **options)
        self.norm: nn.Module | None = None if norm is None else normalization_resolver(norm, self.L)
        if M == UNKNOWN:
            self.a = nn.ParameterList([UninitializedParameter() for _ in range(groups)])
            self.register_load_state_dict_pre_hook(_sized_by_state)  # type: ignore[no-untyped-call]

    def sized_by(self, M: int) -> None:
        """Make the directions, where they are not made yet."""
        if is_lazy(self.a[0]):
            self.M = (M,) * len(self.M)
            for a, T in zip(self.a, self.T, strict=True):
                a.materialize((T, M), self.b.device, self.b.dtype)
                nn.init.normal_(a, std=M**-0.5)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        fresh = SetFunction(
            self.M, self.d, L=self.L, T=self.T, Q=self.Q, sigma=self.sigma, scales=self.scales, conditioned=True
        )
        with torch.no_grad():
            for own, other in zip(_own(self), _own(fresh), strict=True):
                if not is_lazy(own):
                    own.copy_(other)
        if isinstance(self.norm, nn.Module):
            self.norm.reset_parameters()  # type: ignore[operator]

    def finished(self, sums: Tensor) -> Tensor:
        """h, from the sums of W g: (N, L) to (N, d)."""
        return self.finish(sums if self.norm is None else self.norm(sums))


def _own(f: SetFunction) -> list[Tensor]:
    return [*f.a, *f.u, *f.v, f.W, f.b, f.c]


def _sized_by_state(f: _LayerFunction, state: Mapping[str, Any], prefix: str, *_: Any) -> None:
    saved = state.get(f"{prefix}a.0")
    if saved is not None and not is_lazy(saved):
        f.sized_by(saved.shape[-1])


def _checked(in_channels: int | tuple[int, int]) -> tuple[int, int]:
    """Sizes of source and target."""
    pair = (in_channels, in_channels) if isinstance(in_channels, int) else tuple(in_channels)
    if len(pair) != 2 or not all(each >= 1 or each == UNKNOWN for each in pair):
        raise InputError(
            f"in_channels must be one size or (source, target), each at least 1, or -1 for what the first input has; "
            f"got {in_channels}"
        )
    return pair


class PINEAggregation(Aggregation):  # type: ignore[misc]
    r"""The permutation invariant function of a set from the "PINE: Universal Deep Embedding for Graph Nodes via
    Partial Permutation Invariant Set Functions" paper, as an aggregation

    .. math::
        f(\mathcal{X}) = C \, \sigma \Big( b + s_{\mathcal{X}} \sum_{x \in \mathcal{X}} W g(x) \Big), \quad
        g(x)_{tq} = \sigma(u_q a_t^{\top} x + v_q) - \sigma(v_q)

    with :math:`s_{\mathcal{X}} = |\mathcal{X}|^{-1/2}` by default. An empty set gives :math:`C \, \sigma(b)`.

    Args:
        in_channels (int): Size of each element of a set, or :obj:`-1` to derive it from the first input.
        out_channels (int): Size of each output.
        hidden_channels (int, optional): Hidden units of the outer function. (default: :obj:`128`)
        projections (int, optional): The number of directions :math:`a_t`. (default: :obj:`32`)
        scales (int, optional): The number of scales :math:`u_q`. (default: :obj:`8`)
        scaling (str, optional): What a sum is divided by: :obj:`"sum"` 1, :obj:`"sqrt"` the root of the number of
            elements, :obj:`"mean"` their number. (default: :obj:`"sqrt"`)
        norm (str, optional): A normalization after the sum, by its name in PyTorch Geometric, such as
            :obj:`"layer"`, :obj:`"graph"` or :obj:`"instance"`. (default: :obj:`None`)
        sigma (str, optional): :obj:`"tanh"` or :obj:`"sigmoid"`. (default: :obj:`"tanh"`)

    Shapes:
        - **input:** elements :math:`(|\mathcal{E}|, F_{in})` with the set of each, :math:`(|\mathcal{E}|)`, or where
          sets begin and end
        - **output:** :math:`(|\mathcal{V}|, F_{out})`, a row for each set
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 128,
        projections: int = 32,
        scales: int = 8,
        scaling: str = "sqrt",
        norm: str | None = None,
        sigma: str = "tanh",
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        sizes = {"L": hidden_channels, "T": projections, "Q": scales, "sigma": sigma}
        self.f = _LayerFunction(_checked(in_channels)[0], out_channels, 1, scaling, norm, **sizes)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.f.reset_parameters()

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        max_num_elements: int | None = None,
    ) -> Tensor:
        if x.ndim != 2 or dim not in (-2, 0):
            raise InputError(f"messages must be (num_messages, channels), got {tuple(x.shape)} and dim={dim}")
        self.f.sized_by(x.size(1))
        (messages,) = self.f.messages([x])
        sums = self.reduce(messages, index, ptr, dim_size, dim, reduce="sum")
        if SCALINGS[self.f.scaling]:
            count = self.reduce(messages.new_ones(len(messages), 1), index, ptr, dim_size, dim, reduce="sum")
            sums = sums / count.clamp(min=1).pow(SCALINGS[self.f.scaling])
        return self.f.finished(sums)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.in_channels}, {self.out_channels})"


class PINEConv(MessagePassing):  # type: ignore[misc]
    r"""The partial permutation invariant function of a node's neighbors in :math:`K` groups from the "PINE: Universal
    Deep Embedding for Graph Nodes via Partial Permutation Invariant Set Functions" paper

    .. math::
        \mathbf{x}^{\prime}_i = C \, \sigma \Big( b + \sum_{k=1}^{K} s_{ik} \sum_{j \in \mathcal{N}_k(i)}
        w_{ji} W_k g_k(\mathbf{x}_j) \Big) + R \, \mathbf{x}_i, \quad
        g_k(x)_{tq} = \sigma(u_{kq} a_{kt}^{\top} x + v_{kq}) - \sigma(v_{kq})

    where :math:`s_{ik}` is :math:`1 / \sqrt{\deg_k(i)}` by default. :math:`W_k g_k` is made once a node, not once an
    edge.

    Args:
        in_channels (int or tuple): Size of each input sample, or of source and target samples; :obj:`-1` to derive it
            from the first input.
        out_channels (int): Size of each output sample.
        num_groups (int, optional): The number of groups :math:`K`. (default: :obj:`1`)
        root_weight (bool, optional): If :obj:`False`, the node's own features are not added, as in the paper's
            function. (default: :obj:`True`)
        hidden_channels, projections, scales, scaling, norm, sigma (optional): As in
            :class:`PINEAggregation`.
        **kwargs (optional): Additional arguments of :class:`torch_geometric.nn.conv.MessagePassing`.

    Shapes:
        - **input:**
          node features :math:`(|\mathcal{V}|, F_{in})` or
          :math:`((|\mathcal{V_s}|, F_{s}), (|\mathcal{V_t}|, F_{t}))` if bipartite,
          edge indices :math:`(2, |\mathcal{E}|)`, an :class:`~torch_geometric.EdgeIndex` or a sparse matrix,
          edge types in :math:`\{0, \ldots, K - 1\}` :math:`(|\mathcal{E}|)` *(optional)*,
          edge weights :math:`(|\mathcal{E}|)` *(optional)*
        - **output:** node features :math:`(|\mathcal{V}|, F_{out})` or :math:`(|\mathcal{V_t}|, F_{out})` if bipartite
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        num_groups: int = 1,
        root_weight: bool = True,
        hidden_channels: int = 128,
        projections: int = 32,
        scales: int = 8,
        scaling: str = "sqrt",
        norm: str | None = None,
        sigma: str = "tanh",
        **kwargs: Any,
    ) -> None:
        super().__init__(aggr="sum", **kwargs)
        pair = _checked(in_channels)
        one_of("scaling", scaling, SCALINGS)
        self.in_channels, self.out_channels, self.num_groups = in_channels, out_channels, num_groups
        sizes = {"L": hidden_channels, "T": projections, "Q": scales, "sigma": sigma}
        self.f = _LayerFunction(pair[0], out_channels, num_groups, scaling, norm, **sizes)
        self.root = Linear(pair[1], out_channels, bias=False) if root_weight else None

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        super().reset_parameters()
        self.f.reset_parameters()
        if self.root is not None:
            self.root.reset_parameters()

    def forward(
        self,
        x: Tensor | tuple[Tensor, Tensor | None],
        edge_index: Any,
        edge_type: Tensor | None = None,
        edge_weight: Tensor | None = None,
        size: tuple[int, int] | None = None,
    ) -> Tensor:
        source, target = (x, x) if isinstance(x, Tensor) else x
        self.f.sized_by(source.size(1))
        if is_sparse(edge_index):
            edge_index, edge_weight, size = _from_sparse(edge_index, edge_weight)
        if edge_type is None and self.num_groups > 1:
            raise InputError(f"there are {self.num_groups} groups of neighbors: give the edge_type of every edge")
        number = target.size(0) if target is not None else size[1] if size is not None else source.size(0)
        here, there = (edge_index[0], edge_index[1]) if self.flow == "source_to_target" else edge_index.flip([0])
        weight = self._scaled(there, edge_type, edge_weight, number, source)
        messages = torch.cat(self.f.messages([source] * self.num_groups))
        if edge_type is not None:
            here = here + edge_type * source.size(0)  # the rows of a group stand after those of the group before
        ends = torch.stack([here, there] if self.flow == "source_to_target" else [there, here])
        sums = self.propagate(ends, x=(messages, None), edge_weight=weight, size=(messages.size(0), number))
        out = self.f.finished(sums)
        if self.root is not None and target is not None:
            out = out + self.root(target)
        return out

    def _scaled(
        self, there: Tensor, edge_type: Tensor | None, edge_weight: Tensor | None, number: int, like: Tensor
    ) -> Tensor | None:
        """Edge weights, divided by a power of the sum of those of a node's neighbors in a group."""
        power = SCALINGS[self.f.scaling]
        if power == 0:
            return edge_weight
        weight = like.new_ones(there.size(0)) if edge_weight is None else edge_weight
        place = there if edge_type is None else there + edge_type * number
        degree: Tensor = scatter(weight, place, dim=0, dim_size=number * self.num_groups, reduce="sum")
        return weight * degree.where(degree > 0, torch.ones_like(degree)).pow(-power)[place]

    def message(self, x_j: Tensor, edge_weight: Tensor | None) -> Tensor:
        return x_j if edge_weight is None else edge_weight.view(-1, 1) * x_j

    def __repr__(self) -> str:
        groups = f", num_groups={self.num_groups}" if self.num_groups > 1 else ""
        return f"{self.__class__.__name__}({self.in_channels}, {self.out_channels}{groups})"


def _from_sparse(matrix: Any, edge_weight: Tensor | None) -> tuple[Tensor, Tensor | None, tuple[int, int]]:
    """Edges of a transposed adjacency, as PyTorch Geometric has them: a row for each target."""
    if edge_weight is not None:
        raise InputError("a sparse matrix carries its own weights: leave edge_weight out")
    if is_torch_sparse_tensor(matrix):
        rows_and_columns, weight = to_edge_index(matrix)
        sizes = (matrix.size(1), matrix.size(0))
    else:
        row, column, weight = matrix.coo()
        rows_and_columns = torch.stack([row, column])
        sizes = (matrix.sparse_size(1), matrix.sparse_size(0))
    return rows_and_columns.flip([0]), weight, sizes
