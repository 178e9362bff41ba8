"""A small driver for the real program on a real pseudo-terminal: bytes in, bytes out."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

_ANSWERS = (
    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
    (b"\x1b[?2048$p", b"\x1b[?2048;0$y"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[c", b"\x1b[?62;22c"),
)
_WRITTEN = re.compile(
    rb"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]"  # CSI: colours, cursor, modes
    rb"|\x1b\][0-9]+;[^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, judged apart
    rb"|\x1bP[^\x1b]*\x1b\\"  # DCS
    rb"|\x1b[=>78()][A-Z0-9]?"
)
_OSC = re.compile(rb"\x1b\]([0-9]+);([^\x07\x1b]*)")


class Terminal:
    """One run of `memdesk` under a pty: the desk, or the command that `args` name."""

    def __init__(
        self, root: Path, size: tuple[int, int] = (120, 40), *args: str, **env: str
    ) -> None:
        script = str(Path(sys.executable).parent / "memdesk")
        self.out = bytearray()
        self.status: int | None = None
        pid, self.fd = pty.fork()
        if pid == 0:
            window = struct.pack("HHHH", size[1], size[0], 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, window)
            given = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TEXTUAL_ANIMATIONS": "none"}
            inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
            os.execve(
                script, [script, "--workspace", str(root), *args], {**inherited, **given, **env}
            )
        self.pid = pid
        os.set_blocking(self.fd, False)

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the window."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float) -> bytes:
        """What the program writes next, at most so long awaited."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return b""
        try:
            data = os.read(self.fd, 1 << 18)
        except OSError:
            return b""
        self.out += data
        for asked, answer in _ANSWERS:
            if asked in data:
                os.write(self.fd, answer)
        return data

    def sees(self, words: str, seconds: float = 60) -> None:
        """Wait until words were written, escapes taken out."""
        end = time.monotonic() + seconds
        while words not in self.plain():
            assert time.monotonic() < end, self.plain()[-3000:]
            self.read(0.2)

    def quiet(self, seconds: float = 0.4) -> None:
        """Wait until nothing has been written for a while."""
        while self.read(seconds):
            pass

    def press(self, keys: bytes) -> None:
        """Keys, and all they lead to."""
        os.write(self.fd, keys)
        self.quiet()

    def plain(self) -> str:
        """All that was written without the escapes a screen is drawn with."""
        return _WRITTEN.sub(b"", bytes(self.out)).decode("utf-8", "replace")

    def strings(self) -> list[tuple[bytes, bytes]]:
        """Every OSC that was written: number and text."""
        return [(m[1], m[2]) for m in _OSC.finditer(bytes(self.out))]

    def close(self) -> int:
        """End the program if it still runs; its exit status."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        raise AssertionError("the program did not end")
