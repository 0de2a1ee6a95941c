"""After fits nothing stays: no thread, file descriptor or process, and memory is flat over many epochs."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.graphs import two_groups

from pine import PINE

PROC = Path("/proc/self")
pytestmark = pytest.mark.skipif(not PROC.exists(), reason="needs /proc")


def held() -> dict[str, int]:
    """Threads, file descriptors and child processes of this process."""
    gc.collect()
    children = (PROC / "task").glob("*/children")
    return {
        "threads": len(list((PROC / "task").iterdir())),
        "descriptors": len(list((PROC / "fd").iterdir())),
        "children": sum(len(each.read_text().split()) for each in children),
    }


def test_fits_leave_no_thread_file_or_process_behind(tmp_path):
    graph, labels = two_groups()
    seen = np.where(np.arange(40) % 2, labels, -1)

    def use() -> None:
        model = PINE(dim=4, epochs=3, threads=2).fit(graph, seen, checkpoint=tmp_path / "state", checkpoint_every=0)
        model.save(tmp_path / "run")
        PINE.load(tmp_path / "run").transform(graph)

    use()  # threads are kept from call to call
    before, alive = held(), threading.active_count()
    for _ in range(10):
        use()
    assert held() == before
    assert threading.active_count() == alive
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


EPOCHS = """
import gc, sys
import numpy as np
import pine
from pine.datasets import planted_classes

def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096

graph, labels = planted_classes(5_000, classes=3)
seen = []
def progress(done, planned, what):
    if done in (200, 2000):
        seen.append(resident())
pine.PINE(dim=8, epochs=2000, lam=1.0, label_share=0.0, threads=1).fit(graph, labels, progress=progress)
print(seen[-1] - seen[0])
"""


@pytest.mark.slow
def test_memory_is_flat_over_two_thousand_epochs():
    done = subprocess.run([sys.executable, "-c", EPOCHS], capture_output=True, text=True, check=True)
    growth = int(done.stdout)
    print(f"from epoch 200 to 2,000: {growth / 1e6:.1f} MB more")
    assert growth < 8e6
