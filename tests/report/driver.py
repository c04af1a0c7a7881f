"""A browser without a window that is told what to do over two pipes (the DevTools protocol): keys, sizes, questions."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

KEYS = {"Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Space": (" ", 32, " "),
        "ArrowDown": ("ArrowDown", 40, "")}  # fmt: skip


class Driver:
    """One page. The browser reads commands from its descriptor 3 and answers on 4, each ending in a zero byte."""

    def __init__(self, browser: str, folder: Path, width: int = 1400, height: int = 900) -> None:
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--remote-debugging-pipe", f"--user-data-dir={folder / 'driven'}", "--enable-logging=stderr",
                 f"--window-size={width},{height}", "about:blank"]  # fmt: skip
        # Not sh: dash knows no descriptors above 9.
        script = f'exec "$0" "$@" 3<&{theirs} 4>&{answers}'
        self._log = folder / "stderr.txt"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(["bash", "-c", script, browser, *words], pass_fds=(theirs, answers),
                                             stderr=log)
        os.close(theirs)
        os.close(answers)
        self._read, self._count, self._session, self._loaded = b"", 0, "", False
        self.complaints: list[Any] = []  # what the console got
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log"):
            self.call(f"{part}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method: str, **parameters: Any) -> Any:
        """One command, and what comes back."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._answer()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _answer(self) -> Any:
        while b"\0" not in self._read:
            more = os.read(self._in, 1 << 16)
            assert more, "the browser went away"
            self._read += more
        first, _, self._read = self._read.partition(b"\0")
        answer = json.loads(first)
        self._loaded |= answer.get("method") == "Page.loadEventFired"
        if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.complaints.append(answer["params"])
        return answer

    def open(self, page: Path | str) -> None:
        """A file, or an address; complaints are counted anew."""
        self._loaded, self.complaints = False, []
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        while not self._loaded:
            self._answer()

    def ask(self, script: str, wait: bool = False) -> Any:
        """The value of an expression on the page, or of what it promises."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=wait)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 60) -> None:
        """Until an expression on the page is true."""
        end = time.monotonic() + seconds
        while not self.ask(script):
            assert time.monotonic() < end, (script, self.complaints)
            time.sleep(0.05)

    def look(self, width: int, height: int = 900, dark: bool = False) -> None:
        """A window of this size, light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def shot(self, width: int, height: int, dark: bool = False) -> bytes:
        """A picture of the page at this size."""
        self.look(width, height, dark)
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def logged(self) -> list[str]:
        """What the console of any frame has said since the browser started."""
        return re.findall(r".*CONSOLE.*", self._log.read_text(encoding="utf-8", errors="replace"))

    def press(self, name: str) -> None:
        key, code, text = KEYS[name]
        about = {"key": key, "code": name, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **about, **down)
        self.call("Input.dispatchKeyEvent", **about, type="keyUp")

    def close(self) -> None:
        self.call("Browser.close")
        self._process.wait(20)
        os.close(self._in)
        os.close(self._out)
