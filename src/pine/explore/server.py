"""The page on 127.0.0.1: a fixed list of routes, of which none reads a path, to browsers that ask this host alone."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from pine.errors import InputError
from pine.explore.explored import Explored
from pine.explore.page_data import page_data
from pine.explore.page_files import SCRIPTS, STYLE_SHEET, page_file, served_page

ADDRESS = "127.0.0.1"
USUAL_PORT = 8472
PORT_OF_HTTP = 80  # which browsers leave out of Host
LONGEST_NUMBER = 12  # digits
IDLE_SECONDS = 30  # after which a connection that says nothing is closed
TEXT, SCRIPT = "text/plain; charset=utf-8", "text/javascript; charset=utf-8"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
SAFE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True)
class _Answer:
    status: HTTPStatus
    kind: str
    body: bytes


class PageServer(ThreadingHTTPServer):
    """Serves one run until it is closed."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, explored: Explored, port: int) -> None:
        self.explored = explored
        super().__init__((ADDRESS, port), _Handler)
        own = self.server_address[1]
        names = {ADDRESS, "localhost"}
        self.hosts = {f"{name}:{own}" for name in names} | (names if own == PORT_OF_HTTP else set())
        self.fixed = {
            "/": _Answer(HTTPStatus.OK, "text/html; charset=utf-8", served_page().encode()),
            f"/{STYLE_SHEET}": _Answer(HTTPStatus.OK, "text/css; charset=utf-8", page_file(STYLE_SHEET).encode()),
            "/data": _Answer(HTTPStatus.OK, "application/octet-stream", page_data(explored)),
        } | {f"/{name}": _Answer(HTTPStatus.OK, SCRIPT, page_file(name).encode()) for name in SCRIPTS}

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no error, and what is one was answered."""

    def answer(self, path: str, query: str) -> _Answer:
        """Of one of the routes; anything else is not found."""
        if path == "/node":
            return self._node(query)
        if query or path not in self.fixed:
            return _plain(HTTPStatus.NOT_FOUND, "there is nothing here")
        return self.fixed[path]

    def _node(self, query: str) -> _Answer:
        given = parse_qsl(query, keep_blank_values=True)
        digits = given[0][1] if len(given) == 1 and given[0][0] == "number" else ""
        is_number = digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST_NUMBER
        if not is_number or int(digits) >= len(self.explored.nodes):
            return _plain(HTTPStatus.BAD_REQUEST, "number must be that of a node")
        number = int(digits)
        listed, count = self.explored.neighbors(number)
        found = {"nearest": self.explored.nearest(number), "neighbors": listed, "degree": count}
        return _Answer(HTTPStatus.OK, "application/json", json.dumps(found).encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: PageServer

    def do_GET(self) -> None:
        if self.headers.get_all("Host") is None or self.headers.get_all("Host") != [self.headers["Host"]]:
            self._send(_plain(HTTPStatus.BAD_REQUEST, "one Host is needed"))
        elif self.headers["Host"].strip().lower() not in self.server.hosts:
            # A page of another host whose name leads here must not read the run.
            self._send(_plain(HTTPStatus.MISDIRECTED_REQUEST, "this host is not served here"))
        else:
            path, _, query = self.path.partition("?")
            self._send(self.server.answer(path, query))

    do_HEAD = do_GET

    def _refuse(self) -> None:
        self.close_connection = True  # a body that is not read must not be taken for the next request
        self._send(_plain(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD"))

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = do_TRACE = _refuse

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is wrong with a request before it has a route, without its own words."""
        self.close_connection = True
        self._send(_plain(HTTPStatus(code), HTTPStatus(code).phrase))

    def _send(self, answer: _Answer) -> None:
        self.send_response(answer.status)
        for name, value in SAFE_HEADERS.items():
            self.send_header(name, value)
        if answer.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if getattr(self, "command", None) != "HEAD":
            self.wfile.write(answer.body)

    def version_string(self) -> str:
        return "pine"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed for a request."""


def _plain(status: HTTPStatus, text: str) -> _Answer:
    return _Answer(status, TEXT, f"{text}\n".encode())


def open_server(explored: Explored, port: int | None) -> PageServer:
    """A server that listens on a port; without one the usual, so that links stay good, or any that is free."""
    try:
        return PageServer(explored, USUAL_PORT if port is None else port)
    except OSError as problem:
        if problem.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        if port is None:
            return PageServer(explored, 0)
        why = "is in use" if problem.errno == errno.EADDRINUSE else "may not be used"
        raise InputError(f"port {port} of {ADDRESS} {why}; choose another one with --port, or leave it out") from None
