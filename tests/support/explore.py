"""Runs to explore, made without training, and what a page reads, taken apart again."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine import Graph
from pine.baselines import LabelPropagation
from pine.embedder import Fitted
from pine.explore import Explored, PageServer, explore_run, lay_out, open_server
from pine.explore.page_data import ARRAY_TYPES
from pine.graph.ids.node_ids import ids_from
from pine.graph.nodes import Nodes
from pine.io import KeptMap
from pine.labels import Labels, read_labels

HOSTILE_IDS = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"'`${alert(3)}",
    "line\u2028separator\u2029and\u0085and\nnewline",
    "x" * 300,
    "\u202egnp.exe",
    "-->]]><!--",
    "javascript:alert(4)",
    "\\u003cb\\u003e&lt;b&gt;&amp;",
]


def run_of(ids: Any, labels: Labels | None = None, scores: Any = None, dim: int = 4) -> LabelPropagation:
    """A fitted model with random vectors; ids: a list, or {type: list}."""
    by_type = ids if isinstance(ids, Mapping) else {"node": ids}
    nodes = Nodes({type: ids_from(own) for type, own in by_type.items()})
    vectors = np.random.default_rng(0).normal(size=(len(nodes), dim)).astype(np.float32)
    model = LabelPropagation()
    given = None if scores is None else np.asarray(scores, np.float32)
    model._remember(nodes, Fitted(vectors, given), labels)
    return model


def labels_of(model: LabelPropagation, given: Any, task: str = "auto") -> Labels:
    """Labels for the nodes of a run."""
    return read_labels(Graph.assemble(model.nodes_, {}, directed=False), given, task)


def explored_run(model: LabelPropagation, graph: Graph | None = None, labels: Labels | None = None) -> Explored:
    """A run on a map of its principal axes."""
    vectors = model.fitted_.vectors
    return explore_run("a run", model, KeptMap(lay_out(vectors, "pca"), "pca"), graph, labels)


def taken_apart(block: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """As data.js does it."""
    assert block[:4] == b"PINE"
    (length,) = struct.unpack_from("<I", block, 4)
    about = json.loads(block[8 : 8 + length])
    names = {short: np.dtype(long) for long, short in ARRAY_TYPES.items()}
    arrays = {
        name: np.frombuffer(block, names[kind], count, 8 + length + begin)
        for name, (kind, begin, count) in about["arrays"].items()
    }
    return about, arrays


@contextmanager
def served(explored: Explored, port: int | None = 0) -> Iterator[PageServer]:
    """The page on a free port, in a thread."""
    with open_server(explored, port) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def asked(
    server: PageServer, path: str, method: str = "GET", host: str | None = None, body: bytes | None = None
) -> tuple[HTTPResponse, bytes]:
    """A request as a browser would make it, or not."""
    port = server.server_address[1]
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{port}")
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    return answer, read
