"""Work that comes again, as one launch (a CUDA graph): on small graphs a GPU waits for Python, kernel by kernel."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from pine.nn.triton_device import runs_triton

EAGER_STEPS = 1  # before a step is captured: kernels compile, and libraries make their workspaces
CAPTURED_NODES = 100_000  # of more, kernels take longer than their launch, and a captured step has memory of its own


class CapturedStep:
    """Does what step does, whose tensors stay where they are. What it draws comes from the generator, if anything."""

    def __init__(self, step: Callable[[], Tensor], device: torch.device, generator: torch.Generator | None) -> None:
        self.step, self.device, self.generator, self.calls = step, device, generator, 0
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.graph = torch.cuda.CUDAGraph()
        self.result = torch.empty(0)

    def __call__(self) -> Tensor:
        self.calls += 1
        with torch.cuda.device(self.device):
            if self.calls <= EAGER_STEPS:
                self.stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(self.stream):
                    result = self.step()
                torch.cuda.current_stream().wait_stream(self.stream)
                return result
            if self.calls == EAGER_STEPS + 1:
                if self.generator is not None:
                    self.graph.register_generator_state(self.generator)
                with _no_garbage_collection(), torch.cuda.graph(self.graph, stream=self.stream):
                    self.result = self.step()
            self.graph.replay()
            return self.result.clone()


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Garbage may be an earlier captured step, and to free one while another is captured spoils the latter."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def captured(
    step: Callable[[], Tensor], device: torch.device, num_nodes: int, generator: torch.Generator | None = None
) -> Callable[[], Tensor]:
    """The step as one launch where that is possible and of use, else as it is."""
    if num_nodes > CAPTURED_NODES or not runs_triton(device):
        return step
    return CapturedStep(step, device, generator)
