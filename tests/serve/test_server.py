"""The local page: who is answered, what it may read, what it answers."""
from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import codegen
from codegen.children.worker import run_limited
from codegen.diagnostics import InputError
from codegen.limits import MIB, Limits
from codegen.serve.answer import MOST, answer, options_of
from codegen.serve.confine import Confined, confine
from codegen.serve.sample import SAMPLE
from codegen.serve.server import LONGEST, Handler, Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    it = Server(0, run=False)
    threading.Thread(target=it.serve_forever, daemon=True).start()
    yield it
    it.shutdown()
    it.server_close()


def ask(s: Server, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", s.server_address[1], timeout=60)
    connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    reply = connection.getresponse()
    return reply.status, reply.read(), reply.headers


def post(s: Server, given: object, path: str = "/generate") -> tuple[int, bytes]:
    body = json.dumps(given).encode()
    status, text, _ = ask(s, "POST", f"{path}?token={s.token}", body, Origin=s.origin)
    return status, text


def test_it_listens_on_loopback_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_the_page(server: Server) -> None:
    status, text, headers = ask(server, "GET", f"/?token={server.token}")
    assert status == 200 and b"#pragma scop" in text and server.token.encode() in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and headers["Cache-Control"] == "no-store"
    assert ask(server, "GET", f"/other?token={server.token}")[0] == 404


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_nobody_without_the_token(server: Server, token: str) -> None:
    from urllib.parse import quote

    assert ask(server, "GET", f"/?token={quote(token)}")[0] == 403
    assert ask(server, "POST", f"/generate?token={quote(token)}", b"{}", Origin=server.origin)[0] == 403


def test_nobody_from_another_page(server: Server) -> None:
    path = f"/generate?token={server.token}"
    assert ask(server, "POST", path, b"{}", Origin="http://example.org")[0] == 403
    assert ask(server, "POST", path, b"{}")[0] == 403
    assert ask(server, "POST", path, b"{}", Origin=server.origin, Host="example.org")[0] == 403  # another name for it
    assert ask(server, "POST", path, b"{}", Origin=server.origin, Sec_Fetch_Site="cross-site")[0] == 403


def test_nothing_too_large_or_strange(server: Server) -> None:
    path = f"/generate?token={server.token}"
    assert ask(server, "POST", path, b"", Origin=server.origin, Content_Length="99999999999")[0] == 413
    assert ask(server, "POST", path, b"[1]", Origin=server.origin)[0] == 400
    assert ask(server, "POST", path, b"{", Origin=server.origin)[0] == 400
    assert json.loads(post(server, {"source": "x" * (MOST + 1)})[1])["messages"][0]["id"] == "not-here"


def test_nothing_is_run_without_permission(server: Server) -> None:
    assert post(server, {"source": SAMPLE}, "/bench")[0] == 404


def test_an_answer(server: Server) -> None:
    status, text = post(server, {"source": SAMPLE, "target": "c", "machine": "haswell"})
    made = json.loads(text)
    assert status == 200 and made["ok"] and made["regions"][0]["transformed"]
    joined = "".join(piece for _, piece in made["files"][0]["pieces"])
    assert "tilewright: region 1 of smooth" in joined and made["plan"].startswith("region 1")
    assert {stmt for _, stmt, _ in made["regions"][0]["links"]} == {"S1", "S2"}
    assert made["regions"][0]["lines"] == [[7, "S1", 1], [10, "S2", 2]]


def test_problems_are_messages() -> None:
    bad = answer({"source": "#pragma scop\nfor (;;) {\n"})
    assert not bad["ok"] and bad["messages"][0]["id"] == "unbalanced-scop" and bad["messages"][0]["line"] == 1
    plan = answer({"source": SAMPLE, "plan": "region 1\n  tilt t:4"})
    (said,) = plan["messages"]
    assert not plan["ok"] and said["file"] == "plan" and "did you mean 'tile'?" in said["hint"]


def test_limits_hold() -> None:
    found = answer({"source": SAMPLE}, Limits(cpu=30, memory=2048 * MIB, wall=0.01))
    assert not found["ok"] and "the generator" in found["messages"][0]["text"]


SECRET = "48151623"
FILLED = """void f(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] =
%s
;
#pragma endscop
}
"""


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of somebody, in the folder that the server runs in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "num.h").write_text(f"{SECRET}\n")
    return tmp_path / "num.h"


@pytest.mark.parametrize("line", [
    '#include "PATH"', "#include <PATH>", '#include "num.h"', "#include <num.h>", '%:include "PATH"',
    '#import "PATH"', '#include_next "PATH"', '#embed "PATH"', '#inc\\\nlude "PATH"', '#in\\\f\nclude "PATH"',
    '#in\\\v\nclude "PATH"', '#in\\\0\nclude "PATH"', '#in\\ \t\r\nclude "PATH"', '#in\\\r\nclude "PATH"',
    '#/**/include "PATH"', '/*\n*/#include "PATH"', '#define A "PATH"\n#include A', '#define I include\n#I "PATH"',
    '#define S(x) #x\n#include S(num.h)', '#define L <\n#include L num.h>', '#line 1 "PATH"\n1', '# 1 "PATH" 1\n1',
    '#\\\f\nline 1 "PATH"\n1', '#pragma GCC dependency "PATH"\n1', '_Pragma("GCC dependency \\"PATH\\"") 1',
    '#pragma include_alias("math.h", "PATH")\n#include <math.h>', '#pragma GCC pch_preprocess "PATH"\n1',
    '??=include "PATH"', '#include <../num.h>', '#include <sys/../../..PATH>', '#ident "x"\n#include "PATH"',
])  # fmt: skip
def test_no_file_is_read(secret: Path, line: str) -> None:
    """By whatever spelling; where a file is named without effect, the rest is an answer."""
    assert SECRET not in json.dumps(answer({"source": FILLED % line.replace("PATH", str(secret))}))


@pytest.mark.parametrize("line", [
    "#if __has_include(PATH)\n1\n#else\n2\n#endif", "#define X(a) __has_##a\n#if X(include)(PATH)\n1\n#else\n2\n#endif",
    "#define X __has_include PATH\n#include PATH\n1", "#if __has_include_next(PATH)\n1\n#else\n2\n#endif",
    "#define P PATH\n#if __has_include(P)\n1\n#else\n2\n#endif", "#pragma tilewright plan(PATH)\n1",
    "#if __has_embed(PATH)\n1\n#else\n2\n#endif", "#include PATH\n1", "#pragma GCC dependency PATH\n1",
])  # fmt: skip
def test_nothing_tells_which_files_there_are(secret: Path, line: str) -> None:
    def told(name: str) -> object:
        found = answer({"source": FILLED % line.replace("PATH", f'"{name}"')})
        return [found.get("files"), found["messages"]]

    def same(a: str, b: str) -> bool:
        return json.dumps(told(a)).replace(a, "") == json.dumps(told(b)).replace(b, "")

    assert same("num.h", "nun.h") and same(str(secret), str(secret.with_name("nun.h")))


def test_a_child_opens_no_file_at_all(secret: Path) -> None:
    """Whatever part of the tool would be asked to."""
    def opened(path: str) -> str:
        confine("cc")
        with open(path, encoding="utf-8") as file:
            return file.read()

    small = Limits(cpu=10, memory=512 * MIB, wall=20)
    for path in (str(secret), "num.h", "/etc/passwd", "/proc/self/environ", "/proc/self/statm/../environ"):
        with pytest.raises(Confined):
            run_limited(partial(opened, path), small)
    with pytest.raises(Confined):
        run_limited(_started, small)
    assert run_limited(partial(opened, codegen.__file__), small)


def _started() -> None:
    confine("cc")
    subprocess.run(["cat", "/etc/passwd"], check=True)


@pytest.mark.parametrize("given", [
    {"source": "\ud800"}, {"source": FILLED % 1, "plan": "\udfff"}, {"source": FILLED % 1, "context": "\udc00"},
    {"source": 1}, {"source": None}, {"source": [[[]]]}, {"source": FILLED % 1, "target": ["c"]},
    {"source": FILLED % 1, "machine": {}}, {"source": "\0"}, {"source": "(" * 90_000},
    {"source": FILLED % ("(" * 50_000)},
    {"source": FILLED % ("-" * 50_000 + "1")}, {"source": "#if " + "(" * 50_000}, {"source": "#if " + "!" * 50_000},
    {"source": "#define f(x) x\n" + FILLED % ("f(" * 5000 + "1" + ")" * 5000)},
    {"source": "#if 1 / 0\n#endif\n" + FILLED % 1}, {"source": FILLED % ("1" * 5000)}, {"source": "#if " + "1" * 9999},
    {"source": "#pragma scop\n#if"}, {"source": "/*" + FILLED % 1}, {"source": FILLED % '"'}, {"source": "#define\n"},
    {"source": "\n".join(["#define x0 1", *(f"#define x{i + 1} x{i} x{i}" for i in range(40)), FILLED % "x40"])},
])  # fmt: skip
def test_anything_has_an_answer(server: Server, given: object) -> None:
    status, text = post(server, given)
    found = json.loads(text)
    assert status == 200 and found["messages"]
    assert "internal" not in str(found["messages"])


@pytest.mark.parametrize(("body", "status"), [
    (b"[" * 100_000, 400), (b'{"a":' * 100_000, 400), (b"\xff\xfe\x00", 400), (b'{"source": "\xff"}', 400), (b"", 400),
    (b'{"source": ' + b"9" * 10_000 + b"}", 400), (b"null", 400), (b"1e999", 400), (b'{"a": NaN}', 200),
    (b'{"source": 1e999}', 200), (b" " * (LONGEST + 1), 413), (b"x" * (LONGEST + 1), 413),
])  # fmt: skip
def test_any_body_has_an_answer(server: Server, body: bytes, status: int) -> None:
    found = ask(server, "POST", f"/generate?token={server.token}", body, Origin=server.origin)
    assert found[0] == status and json.loads(found[1])


@pytest.mark.parametrize(("request_line", "length", "status"), [
    ("POST PATH HTTP/1.1", "-1", 411), ("POST PATH HTTP/1.1", "+1", 411), ("POST PATH HTTP/1.1", "\u00b2", 411),
    ("POST PATH HTTP/1.1", "0x10", 411), ("POST PATH HTTP/1.1", "9" * 5000, 413), ("POST PATH HTTP/1.1", "99", 400),
    ("POST //[ HTTP/1.1", "2", 403), ("GET //[::1 HTTP/1.1", "2", 403), ("PUT PATH HTTP/1.1", "2", 501),
    ("HEAD PATH HTTP/1.1", "2", 501), ("POST PATH HTTP/9.9", "2", 505), ("POST PATH", "2", 400), ("nonsense", "2", 400),
    ("GET /" + "a" * 70_000 + " HTTP/1.1", "2", 414),
])  # fmt: skip
def test_any_request_has_an_answer(server: Server, request_line: str, length: str, status: int) -> None:
    head = (f"{request_line}\r\nHost: {server.origin[7:]}\r\nOrigin: {server.origin}\r\n"
            f"Content-Length: {length}\r\n\r\n{{}}")
    with socket.create_connection(server.server_address[:2], timeout=60) as connection:
        connection.sendall(head.replace("PATH", f"/generate?token={server.token}").encode("latin-1"))
        connection.shutdown(socket.SHUT_WR)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    before, _, body = reply.partition(b"\r\n\r\n")
    assert before.split()[1] == str(status).encode() and b"application/json" in before
    assert json.loads(body)["error"]


def test_a_request_that_stops_has_an_answer(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.2)
    status, text, _ = ask(server, "POST", f"/generate?token={server.token}", b"{", Origin=server.origin,
                          Content_Length="10")
    assert status == 408 and json.loads(text)["error"]


def test_what_may_be_there() -> None:
    text = ("#include <math.h>\n # include < stdint.h > /* why */\n#define N 4\n#if N > 3 && __has_include(<math.h>)\n"
            f'#pragma GCC ivdep\nchar *s = "#";\n{FILLED % "N"}#endif\n')
    found = answer({"source": text})
    assert found["ok"] and found["regions"][0]["transformed"]


@pytest.mark.parametrize(("key", "value"), [
    ("machine", "/etc/passwd"), ("machine", "mine.toml"), ("isa", "x.toml"), ("target", "cuda9"), ("fusion", "no"),
])  # fmt: skip
def test_options_are_no_paths(key: str, value: str) -> None:
    with pytest.raises(InputError):
        options_of({key: value})
