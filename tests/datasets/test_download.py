"""A download is checked and complete, or it leaves nothing behind and says what to do."""

import hashlib
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from pine._internal.files import atomic_write
from pine._internal.progress import Progress
from pine.datasets import CATALOG, Dataset, available
from pine.datasets.arrays import content_sha256
from pine.datasets.download import fetch
from pine.datasets.entry import Entry, Original
from pine.datasets.folders import cache_folder, find
from pine.datasets.loading import load_entry
from pine.errors import InputError

EDGES = b"0 1\n1 2\n2 2\n"
LABELS = b"0 1\n1 0\n2 41\n"


class Server:
    """Answers with the given bytes; of a path in `cut`, with half of what it promises."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.asked: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append(self.path)
                content = owner.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if self.path in owner.cut else content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    server = Server()
    thread = Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def entry(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """Email-eu of three nodes, published on the local server."""
    monkeypatch.delenv("PINE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    server.files = {"/edges.txt": EDGES, "/labels.txt": LABELS}
    arrays: dict[str, np.ndarray] = {
        "edges": np.array([[0, 1], [1, 2], [2, 2]], np.int32),
        "labels": np.array([1, 0, 41], np.int16),
    }
    return replace(
        CATALOG["email-eu"],
        nodes={"node": 3},
        rows={"to": 3},
        originals=(Original(f"{server.url}/edges.txt", "e/edges.txt"), Original(f"{server.url}/labels.txt", "e/l.txt")),
        content=content_sha256(arrays),
    )


def load(
    entry: Entry, data_dir: Path | None = None, download: bool = True, progress: Progress | None = None
) -> Dataset:
    return load_entry(entry, data_dir, download, progress)


def left_behind() -> list[Path]:
    return [path for path in cache_folder().rglob("*") if path.is_file()]


def test_a_missing_data_set_is_downloaded_once_and_kept_in_our_form(entry: Entry, server: Server) -> None:
    first = load(entry)
    assert (first.graph.num_nodes, first.graph.num_edges) == (3, 2)
    assert np.asarray(first.labels).tolist() == [1, 0, 41]
    assert left_behind() == [cache_folder() / "email-eu-core.npz"]
    assert available("email-eu") == cache_folder() / "email-eu-core.npz"
    assert load(entry).raw == first.raw == {"nodes": 3, "edges": 3, "self_loops": 1}
    assert server.asked == ["/edges.txt", "/labels.txt"]


def test_a_download_reports_its_bytes_to_the_callback(entry: Entry) -> None:
    calls: list[tuple[int, int, str]] = []
    load(entry, progress=lambda done, planned, what: calls.append((done, planned, what)))
    assert calls[0] == (0, len(EDGES), "email-eu")
    assert (len(EDGES), len(EDGES), "edges.txt") in calls
    assert calls[-1] == (len(EDGES + LABELS), len(EDGES + LABELS), "l.txt")
    assert calls == sorted(calls, key=lambda call: call[:2])
    load(entry, progress=lambda done, planned, what: pytest.fail("it is there already"))


def test_the_order_in_which_a_publisher_lists_edges_does_not_matter(entry: Entry, server: Server) -> None:
    server.files["/edges.txt"] = b"2\t2\r\n0\t1\r\n1\t2\r\n"
    assert load(entry).graph.num_edges == 2


@pytest.mark.parametrize("content", [b"0 1\n1 2\n1 1\n", b"0 1\n1 2\n", b"<html>moved</html>", b"0 1\n1", b""])
def test_a_publisher_that_sends_something_else_is_refused(entry: Entry, server: Server, content: bytes) -> None:
    server.files["/edges.txt"] = content
    with pytest.raises(
        InputError, match=r"dataset 'email-eu' is not in .*edges\.txt and http.*(content must be|cannot be read)"
    ):
        load(entry)
    assert left_behind() == []


def test_a_broken_transfer_leaves_nothing(entry: Entry, server: Server) -> None:
    server.cut = {"/labels.txt"}
    with pytest.raises(InputError, match=r"labels\.txt must send 13 bytes, got 6; the transfer broke off"):
        load(entry)
    assert left_behind() == []
    server.cut = set()
    assert load(entry).graph.num_nodes == 3


def test_a_refused_connection_is_explained_with_what_to_put_where(entry: Entry) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/edges.txt"
        unreachable = replace(entry, originals=(Original(url, "e/edges.txt"),))
        with pytest.raises(InputError) as caught:
            load(unreachable)
    message = str(caught.value)
    assert f"{url} cannot be reached" in message
    assert f"put {url} as e/edges.txt into {cache_folder()}" in message
    assert "PINE_DATA or data_dir" in message
    assert left_behind() == []


def test_an_address_that_does_not_exist_any_more_is_named(entry: Entry, server: Server) -> None:
    del server.files["/labels.txt"]
    with pytest.raises(InputError, match=r"labels\.txt answers 404 Not Found"):
        load(entry)
    assert left_behind() == []


def test_the_publishers_files_can_be_put_there_by_hand(entry: Entry, server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine" / "e").mkdir(parents=True)
    (tmp_path / "mine" / "e" / "edges.txt").write_bytes(EDGES)
    assert find(entry, tmp_path / "mine") is None
    (tmp_path / "mine" / "e" / "l.txt").write_bytes(LABELS)
    assert load(entry, tmp_path / "mine", download=False).graph.num_edges == 2
    (tmp_path / "mine" / "e" / "l.txt").write_bytes(b"0 1\n1 0\n2 40\n")
    with pytest.raises(InputError, match=r"l\.txt: the content must be that of 'email-eu' as PINE knows it"):
        load(entry, tmp_path / "mine")
    assert server.asked == []


def test_a_download_can_be_forbidden(entry: Entry, server: Server) -> None:
    with pytest.raises(InputError, match="and download=False"):
        load(entry, download=False)
    assert server.asked == []


def test_a_cache_that_cannot_be_written_is_explained(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"dataset 'email-eu' is not in .*Not a directory"):
        load(entry)


def test_a_file_with_the_right_checksum_is_kept_and_one_with_another_is_not(server: Server, tmp_path: Path) -> None:
    server.files["/good"] = b"content"
    total = hashlib.sha256(b"content").hexdigest()
    fetch(f"{server.url}/good", tmp_path / "good", total)
    assert (tmp_path / "good").read_bytes() == b"content"
    server.files["/good"] = b"contend"
    with pytest.raises(InputError, match=f"must have the sha256 {total}, got .*; it is not opened"):
        fetch(f"{server.url}/good", tmp_path / "bad", total)
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


def test_a_larger_file_comes_through_whole(server: Server, tmp_path: Path) -> None:
    server.files["/large"] = os.urandom(1_000_003)
    fetch(f"{server.url}/large", tmp_path / "large")
    assert (tmp_path / "large").read_bytes() == server.files["/large"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, problem: type[BaseException]) -> None:
    (tmp_path / "kept").write_bytes(b"old")

    def interrupted() -> None:
        with atomic_write(tmp_path / "kept") as file:
            file.write(b"half")
            raise problem

    with pytest.raises(problem):
        interrupted()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("kept", b"old")]


def test_every_downloadable_data_set_states_what_it_must_hold() -> None:
    for entry in CATALOG.values():
        assert bool(entry.content) == entry.downloadable
        assert all(original.url.startswith("https://") for original in entry.originals)


@pytest.mark.parametrize("name", [name for name, entry in CATALOG.items() if entry.downloadable])
def test_the_files_of_a_downloadable_data_set_hold_what_it_states(name: str, need_data: Callable[..., Path]) -> None:
    entry = CATALOG[name]
    values: dict[str, np.ndarray] = {}
    for file in entry.files:
        values.update(np.load(need_data(file) / file, allow_pickle=False))
    assert content_sha256(values) == entry.content
