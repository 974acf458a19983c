"""Headless Chromium over its DevTools pipe: open a page, run script in it, hear what it says and asks for."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
FLAGS = [
    "--headless=new",
    "--no-sandbox",  # the suite may run as root, in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium, and pages are tried in it"
)
WORDS = "{}.map((state) => bddtorque.plan.outputWords(state))"
PATIENCE = 600.0
"""Seconds that any answer may take on a busy machine."""


class Browser:
    """One Chromium; `page` opens a page in a tab of its own."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="bddtorque-chromium-", ignore_cleanup_errors=True)
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        self._process = _started(theirs_in, theirs_out, self._profile.name)
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._from, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("chromium: an answer required, none came")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    @contextlib.contextmanager
    def page(self, path: Path, *, script: bool = True, width: int = 1280, height: int = 900, scheme: str = "light",
             phone: bool = False) -> Iterator[Page]:  # fmt: skip
        """Open a file and wait until it is ready."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        try:
            for domain in ("Page", "Runtime", "Network", "Log"):
                page.call(f"{domain}.enable")
            size = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
            page.call("Emulation.setDeviceMetricsOverride", **size)
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            page.call("Emulation.setScriptExecutionDisabled", value=not script)
            page.call("Page.navigate", url=path.resolve().as_uri())
            page.wait_until("document.readyState === 'complete'")
            if script:
                page.wait_until("/ready|failed/.test(document.documentElement.className)")
            yield page
        finally:
            self.call("Target.closeTarget", targetId=target)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()


class Page:
    """A tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def run(self, expression: str) -> Any:
        """Return the value of an expression in the page, promises awaited."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"].get("description", "exception"))
        return done["result"].get("value")

    def wait_until(self, expression: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.run(expression):
            if time.monotonic() > until:
                raise RuntimeError(f"chromium: {expression} required, it never came true")
            time.sleep(0.02)

    def events(self, method: str) -> list[dict[str, Any]]:
        """Return what the page told of one kind so far."""
        self.run("0")
        return [
            each["params"]
            for each in self._browser.events
            if each.get("sessionId") == self._session and each["method"] == method
        ]

    def complaints(self) -> list[str]:
        """Return errors and warnings on the console, exceptions, and what the policy refused."""
        said = [
            str(each["args"])
            for each in self.events("Runtime.consoleAPICalled")
            if each["type"] in ("error", "warning", "assert")
        ]
        said += [each["exceptionDetails"]["text"] for each in self.events("Runtime.exceptionThrown")]
        said += [each["entry"]["text"] for each in self.events("Log.entryAdded") if each["entry"]["level"] != "info"]
        return said

    def addresses(self) -> list[str]:
        """Return all that the page asked for."""
        return [each["request"]["url"] for each in self.events("Network.requestWillBeSent")]

    def screenshot(self, path: Path, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        printed = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(printed["data"]))


def page_words(page: Page, states: list[np.ndarray]) -> list[list[int]]:
    """Return the output words that the page gives for arrays of input words."""
    return page.run(WORDS.format(json.dumps(np.concatenate(states, axis=1).tolist())))


def _started(theirs_in: int, theirs_out: int, profile: str) -> subprocess.Popen[bytes]:
    """Start Chromium with its pipe on descriptors 3 and 4, where it looks for it."""
    assert CHROMIUM is not None
    program = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
    arguments = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    return subprocess.Popen(
        ["bash", "-c", program, "bash", str(theirs_in), str(theirs_out), *arguments],
        pass_fds=(theirs_in, theirs_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
