"""Drive a program through a real pty and time what a person would see.

Written for this project's measurements; an earlier form of it found the rules for the screen.
A key's frame is the end of the first synchronised update (ESC[?2026l) after it was written.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence

_SYNC_END = b"\x1b[?2026l"
_ANSWERS = (
    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
    (b"\x1b[?2048$p", b"\x1b[?2048;0$y"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[c", b"\x1b[?62;22c"),
)
_ANSI = re.compile(rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]")
DOWN, PAGE_DOWN, HOME = b"\x1b[B", b"\x1b[6~", b"\x1b[H"


class Terminal:
    """One program on a pty of 120x40."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.out = bytearray()
        self.start = time.perf_counter()
        self.last = self.start
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            names = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            own = {**os.environ, **names, "TEXTUAL_ANIMATIONS": "none", **(env or {})}
            try:
                os.execvpe(argv[0], list(argv), own)
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.set_blocking(self.fd, False)

    def read(self, timeout: float) -> bytes:
        """What the program wrote within `timeout`, its questions to the terminal answered."""
        if not select.select([self.fd], [], [], max(0.0, timeout))[0]:
            return b""
        try:
            data = os.read(self.fd, 1 << 18)
        except BlockingIOError:
            return b""
        except OSError as err:
            raise SystemExit(f"The program ended: {_ANSI.sub(b'', bytes(self.out))!r}") from err
        self.last = time.perf_counter()
        self.out += data
        for question, answer in _ANSWERS:
            if question in data:
                os.write(self.fd, answer)
        return data

    def wait(self, marker: bytes, timeout: float = 120) -> float:
        """Seconds from spawn until `marker` was painted."""
        end = time.perf_counter() + timeout
        while time.perf_counter() < end:
            if self.read(0.05) and marker in _ANSI.sub(b"", bytes(self.out[-65_536:])):
                return self.last - self.start
        raise SystemExit(f"{marker!r} never came: {_ANSI.sub(b'', bytes(self.out[-2000:]))!r}")

    def settle(self, quiet: float, timeout: float = 60) -> None:
        """Wait until nothing was written for `quiet` seconds."""
        end = time.perf_counter() + timeout
        while time.perf_counter() < end and self.read(quiet):
            pass

    def key(self, data: bytes, quiet: float = 0.06) -> float | None:
        """Seconds from a key to its first frame, then wait for quiet; None when none came."""
        mark, start = len(self.out), time.perf_counter()
        os.write(self.fd, data)
        frame = None
        while frame is None and time.perf_counter() < start + 5:
            if self.read(0.25) and _SYNC_END in self.out[mark:]:
                frame = self.last - start
        self.settle(quiet, 2)
        return frame

    def rss_mb(self) -> float:
        """Resident memory of the program."""
        with open(f"/proc/{self.pid}/status") as file:
            line = next(x for x in file if x.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def close(self) -> None:
        """End the program that was started here."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGTERM)
            end = time.perf_counter() + 3
            while time.perf_counter() < end:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    break
                with contextlib.suppress(SystemExit):
                    self.read(0.05)
            else:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        os.close(self.fd)
