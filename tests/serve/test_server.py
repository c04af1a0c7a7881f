"""The local page: who is answered, what it may read, what it answers."""
from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from codegen.diagnostics import InputError
from codegen.limits import MIB, Limits
from codegen.serve.answer import MOST, answer, options_of
from codegen.serve.sample import SAMPLE
from codegen.serve.sandbox import check_source
from codegen.serve.server import Server


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


@pytest.mark.parametrize("line", [
    '#include "/etc/passwd"', "#include </etc/passwd>", "#include <../x.h>", "#include <sys/stat.h>", "# include  FILE",
    "%:include </etc/passwd>", "#import <stdio.h>", "#include_next <stdio.h>", '#embed "x"', "#inc\\\nlude \"x.h\"",
    "#if __has_include(</etc/passwd>)\n#endif", "#define A __has_include(</etc/passwd>)", '#line 1 "x"', '# 1 "x.h"',
    '#pragma GCC dependency "x"', '#pragma GCC pch_preprocess "x"', "#pragma tilewright plan(secret)", "??=include <x>",
    '_Pragma("GCC dependency \\"x\\"")', "/\\\n* */ #include <a>", 'asm(".incbin \\"x\\"");', "#/**/include \"x.h\"",
    "#pragma STDC\n#ident \"x\"", "#define I include",
])  # fmt: skip
def test_no_file_is_read(line: str) -> None:
    with pytest.raises(InputError):
        check_source(f"int x;\n{line}\nint y;\n", "page.c")


def test_what_may_be_there() -> None:
    check_source(
        "#include <math.h>\n # include < stdint.h > /* why */\n#define N 4\n#if N > 3\n#endif\n"
        '#pragma omp parallel for\n#pragma GCC ivdep\n#pragma tilewright assume(n > 1)\nchar *s = "#";\n',
        "page.c",
    )


@pytest.mark.parametrize(("key", "value"), [
    ("machine", "/etc/passwd"), ("machine", "mine.toml"), ("isa", "x.toml"), ("target", "cuda9"), ("fusion", "no"),
])  # fmt: skip
def test_options_are_no_paths(key: str, value: str) -> None:
    with pytest.raises(InputError):
        options_of({key: value})
