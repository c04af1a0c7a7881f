"""HTTP server of `tilewright serve`, on 127.0.0.1 only: GET / returns the page, POST /generate and, with `run`, POST
/bench answer in JSON; a request without the token, or from another origin, gets 403. Every request is answered, those
that are refused with `{"error": why}`."""
from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from codegen.serve.answer import MOST, answer, choices
from codegen.serve.sample import SAMPLE

LONGEST = 8 * MOST  # bytes of a request: characters may be escaped
WAIT = 30.0  # seconds for a request to arrive
DRAIN = 0.2  # seconds without a byte of a request that is refused
DRAINED = 1024  # pieces of 64 KB of it that are read


class Server(ThreadingHTTPServer):
    """One page. `run` allows compiling and measuring what the page holds."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, port: int, run: bool) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.token = secrets.token_urlsafe(24)
        self.run = run
        self.busy = threading.Semaphore(2)  # generations at a time

    def handle_error(self, request: object, client_address: object) -> None:
        """Silent: who asked has gone."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"{self.origin}/?token={self.token}"


class Handler(BaseHTTPRequestHandler):
    """GET / is the page, POST /generate and, where running is allowed, POST /bench answer it in JSON."""

    server: Server
    server_version = "tilewright"
    sys_version = ""
    timeout = WAIT

    def do_GET(self) -> None:
        self._answered(self._page)

    def do_POST(self) -> None:
        self._answered(self._work)

    def _answered(self, work: Callable[[], None]) -> None:
        """Do what a request asks for; whatever goes wrong is an answer, too."""
        try:
            if self._allowed():
                work()
        except TimeoutError:
            self._say(HTTPStatus.REQUEST_TIMEOUT, "the request is shorter than it says")
        except ConnectionError:
            self.close_connection = True
        except Exception as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, f"internal error: {type(error).__name__}")

    def _page(self) -> None:
        if self._path().path != "/":
            self._say(HTTPStatus.NOT_FOUND, "there is nothing here")
            return
        from codegen.print.templates import environment

        nonce = secrets.token_urlsafe(12)
        html = environment().get_template("serve.html.j2").render(
            token=self.server.token, nonce=nonce, sample=SAMPLE, choices=choices(), run=self.server.run)
        policy = (f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; "
                  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", html.encode(), (("Content-Security-Policy", policy),))

    def _work(self) -> None:
        work = {"/generate": answer, **({"/bench": _bench} if self.server.run else {})}.get(self._path().path)
        if work is None:
            self._say(HTTPStatus.NOT_FOUND, "there is nothing here; `tilewright serve --run` may measure")
            return
        given = self._body()
        if given is None:
            return
        if not self.server.busy.acquire(timeout=20):
            self._say(HTTPStatus.SERVICE_UNAVAILABLE, "busy with earlier requests")
            return
        try:
            found = work(given)
        finally:
            self.server.busy.release()
        self._send(HTTPStatus.OK, "application/json", json.dumps(found).encode())

    def _path(self) -> SplitResult:
        try:
            return urlsplit(self.path)
        except ValueError:  # brackets that are no address
            return SplitResult("", "", "", "", "")

    def _allowed(self) -> bool:
        """From this machine's own page, with the token in the address: other pages of the browser cannot read it."""
        own = self.server.origin
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin")
        site = self.headers.get("Sec-Fetch-Site", "none")
        given = parse_qs(self._path().query).get("token", [""])[0]
        if host != own.removeprefix("http://") or origin not in (None, own) or site not in ("none", "same-origin"):
            self._say(HTTPStatus.FORBIDDEN, "requests come from the page itself")
        elif not hmac.compare_digest(given.encode(), self.server.token.encode()):
            self._say(HTTPStatus.FORBIDDEN, "the token in the address is not that of this page")
        elif self.command == "POST" and origin is None:
            self._say(HTTPStatus.FORBIDDEN, "requests come from the page itself")
        else:
            return True
        return False

    def _body(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._say(HTTPStatus.LENGTH_REQUIRED, "how long the request is has to be said in digits")
            return None
        if len(length) > 12 or int(length) > LONGEST:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {LONGEST:,} bytes")
            return None
        data = self.rfile.read(int(length))
        if len(data) < int(length):
            self._say(HTTPStatus.BAD_REQUEST, "the request is shorter than it says")
            return None
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):  # also numbers with too many digits
            found = None
        if not isinstance(found, dict):
            self._say(HTTPStatus.BAD_REQUEST, "not a JSON object, or one that is nested too deeply")
            return None
        return found

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request that `BaseHTTPRequestHandler` understands, in JSON, too."""
        self.request_version = "HTTP/1.0"  # else there would be no headers
        self._say(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def _say(self, status: HTTPStatus, text: str) -> None:
        self.close_connection = True  # what was not read must not be taken for the next request
        with suppress(ConnectionError, TimeoutError):
            self._send(status, "application/json", json.dumps({"error": text}).encode())
            self._drop_rest()

    def _drop_rest(self) -> None:
        """Read what is still under way: a connection that is closed before takes the answer with it."""
        self.wfile.flush()
        self.connection.settimeout(DRAIN)
        for _ in range(DRAINED):
            if not self.rfile.read1(1 << 16):
                return

    def _send(self, status: HTTPStatus, kind: str, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.send_response(status)
        fixed = (("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
                 ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"))
        for name, value in (*fixed, *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the terminal is for the address."""


def _bench(given: dict[str, Any]) -> dict[str, Any]:
    from codegen.serve.measure import bench

    return bench(given)
