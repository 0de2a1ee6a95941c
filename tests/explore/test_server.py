"""The server: this host alone, fixed routes, nothing that reads a path, words that stay words."""

from __future__ import annotations

import json
import socket

import pytest
from support.explore import HOSTILE_IDS, asked, explored_run, labels_of, run_of, served, taken_apart

from pine import Graph, InputError
from pine.explore.page_files import SCRIPTS
from pine.explore.server import open_server


@pytest.fixture(scope="module")
def server():
    graph = Graph.from_edges([(HOSTILE_IDS[0], other) for other in HOSTILE_IDS[1:]])
    model = run_of(HOSTILE_IDS)
    labels = labels_of(model, {id: f"<b>{i % 3}</b>" for i, id in enumerate(HOSTILE_IDS)})
    with served(explored_run(model, graph, labels)) as running:
        yield running


def test_it_listens_on_127_0_0_1_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"


def test_the_page_its_files_and_its_data_are_served_with_safe_headers(server):
    for path in ("/", "/page.css", "/data", "/node?number=0", *(f"/{name}" for name in SCRIPTS)):
        answer, body = asked(server, path)
        assert answer.status == 200, path
        assert len(body) == int(answer.headers["Content-Length"]) > 0
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "python" not in answer.headers["Server"].lower()


def test_no_file_of_the_page_names_another_host_or_needs_eval(server):
    for path in ("/", "/page.css", *(f"/{name}" for name in SCRIPTS)):
        text = asked(server, path)[1].decode()
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", ""), path
        for never in (
            "eval(",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "new Function",
            "<!--",
        ):
            assert never not in text, (path, never)
        assert "style=" not in text
        assert "onclick=" not in text


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "evil.example:{port}",
     "127.0.0.1:{port}.evil.example", "user@127.0.0.1:{port}", "[::1]:{port}", "127.0.0.1:{port}, evil.example"],
)  # fmt: skip
def test_other_hosts_are_refused(server, host):
    answer, body = asked(server, "/data", host=host.format(port=server.server_address[1]))
    assert answer.status in (400, 421)
    assert b"PINE" not in body
    assert "Content-Security-Policy" in answer.headers


def test_localhost_is_this_host_too(server):
    assert asked(server, "/", host=f"localhost:{server.server_address[1]}")[0].status == 200


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/page/", "/page/page.css",
     "/page.html", "/data/", "/data?x", "/?file=/etc/passwd", "/page.css/../data", "/%2e%2e/data", "/server.py", "data",
     "/index.html", "/node/0", "/\\..\\data", "/page.css%00"],
)  # fmt: skip
def test_nothing_else_is_there(server, path):
    answer, body = asked(server, path)
    assert answer.status == 404
    assert body == b"there is nothing here\n"


@pytest.mark.parametrize(
    "query",
    ["", "number", "number=", "number=-1", "number=9", "number=1e3", "number=0x1", "number=²", "number=%C2%B2",
     "number=1.0", "number=99999999999999999999999", "number=1&number=2", "other=1", "number=%2Fetc",
     "number=0&path=/etc/passwd"],
)  # fmt: skip
def test_a_node_is_named_by_its_number_and_by_nothing_else(server, query):
    answer, body = asked(server, f"/node?{query}".encode("ascii", "replace").decode())
    assert answer.status == 400
    assert body == b"number must be that of a node\n"


def test_a_node_has_its_nearest_and_its_neighbors(server):
    found = json.loads(asked(server, "/node?number=0")[1])
    assert found["neighbors"] == list(range(1, 9))
    assert found["degree"] == 8
    assert len(found["nearest"]) == 8
    assert [cosine for _, cosine in found["nearest"]] == sorted((c for _, c in found["nearest"]), reverse=True)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_only_get_and_head_are_answered(server, method):
    answer, body = asked(server, "/", method, body=b"GET /data HTTP/1.1\r\n\r\n" if method == "POST" else None)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert b"html" not in body


def test_a_method_that_does_not_exist_is_refused_without_its_own_words(server):
    answer, body = asked(server, "/", "BREW<b>")
    assert answer.status == 501
    assert b"BREW" not in body
    answer, body = asked(server, "/", "HEAD")
    assert (answer.status, body) == (200, b"")


def test_a_request_that_makes_no_sense_does_not_end_the_server(server):
    for nonsense in (b"\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 70_000, b"\r\n"):
        with socket.create_connection(server.server_address, timeout=5) as connection:
            connection.sendall(nonsense)
    assert asked(server, "/")[0].status == 200


def test_hostile_ids_are_data_and_never_markup(server):
    page, data = asked(server, "/")[1], asked(server, "/data")[1]
    assert b"alert" not in page
    about, _ = taken_apart(data)
    assert about["ids"] == HOSTILE_IDS
    (length,) = (int.from_bytes(data[4:8], "little"),)
    assert data[8 : 8 + length].isascii()


def test_a_port_in_use_is_said_in_a_sentence_unless_none_was_asked_for(server):
    port = server.server_address[1]
    with pytest.raises(InputError, match=rf"port {port} of 127\.0\.0\.1 is in use; choose another one with --port"):
        open_server(server.explored, port)
    with open_server(server.explored, None) as first, open_server(server.explored, None) as second:
        assert first.server_address[1] != second.server_address[1]
