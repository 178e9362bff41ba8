"""Reading ahead: one process of our own parses and hashes while this one commits (spec 1.3).

It is handed open files, never paths, holds no store, and ends with its parent: its next send
fails. Where it can't start or dies, the import goes on in this process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import BinaryIO

from core.evidence.reading import Batch, Request, batches
from schemas.errors import MemdeskError
from schemas.storage import NewEvent

_MEANWHILE = 8 << 20
"""A file of at most so many bytes is read here while the process starts."""
WORTH_BYTES = 24 << 20
"""From so many bytes on, the process earns back what its start costs."""
_SIZE = 8
_BUFFERED = 8
"""Batches, each about 1 MiB of records, that wait for their commit."""


class Lost(Exception):
    """The reading process is gone; nothing was committed for what it had not sent."""


class Ahead:
    """The reading process: `read` answers batches of one file as they come."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        command = f"from core.evidence.ahead import serve; serve({theirs.fileno()})"
        # -P: a workspace that holds a `core` folder of its own is never imported. In a group of its
        # own: ctrl-c is for the importer, which ends it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", command],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            process_group=0,
        )
        theirs.close()
        self._frames: queue.Queue[bytearray | None] = queue.Queue(_BUFFERED)
        self._started = threading.Event()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        """Take frames off the socket, so that reading goes on while a batch is committed."""
        try:
            _exactly(self._socket, _SIZE)
            self._started.set()
            while True:
                size = int.from_bytes(_exactly(self._socket, _SIZE), "big")
                self._frames.put(_exactly(self._socket, size))
        except (OSError, EOFError):
            self._frames.put(None)

    def pays(self, size: int) -> bool:
        """False while the process starts and the file is read sooner than that takes."""
        return size > _MEANWHILE or self._started.is_set()

    def read(self, request: Request, file: BinaryIO) -> Iterator[Batch]:
        """Batches of one file. Raises Lost when the process ended, and what the reader raised."""
        try:
            data = pickle.dumps(request)
            socket.send_fds(self._socket, [len(data).to_bytes(_SIZE, "big")], [file.fileno()])
            self._socket.sendall(data)
            while True:
                frame = self._frames.get()
                if frame is None:
                    raise EOFError
                rows, batch = pickle.loads(frame)  # noqa: S301 (from our own child)
                if isinstance(batch, MemdeskError):
                    raise batch
                batch.events = [NewEvent._make(row) for row in rows]
                yield batch
                if batch.last:
                    return
        except (OSError, EOFError) as err:
            raise Lost from err

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextlib.contextmanager
def reading_ahead(total: int) -> Iterator[Ahead | None]:
    """A reading process where it pays: much to read, and a processor to spare."""
    ahead = None
    if total >= WORTH_BYTES and (os.cpu_count() or 1) > 1:
        with contextlib.suppress(OSError):
            ahead = Ahead()
    try:
        yield ahead
    finally:
        if ahead is not None:
            ahead.close()


def _exactly(connection: socket.socket, size: int) -> bytearray:
    data, at = bytearray(size), 0
    view = memoryview(data)
    while at < size:
        count = connection.recv_into(view[at:])
        if not count:
            raise EOFError
        at += count
    return data


def serve(handle: int) -> None:
    """The reading process: files in, batches out, until the other side closes."""
    # Events hold no cycles, and there are millions: looking for some takes time only.
    gc.disable()
    with socket.socket(fileno=handle) as connection, contextlib.suppress(OSError, EOFError):
        connection.sendall(bytes(_SIZE))
        while True:
            head, handles, _flags, _address = socket.recv_fds(connection, _SIZE, 1)
            if len(head) < _SIZE or not handles:
                return
            with os.fdopen(handles[0], "rb") as file:
                data = _exactly(connection, int.from_bytes(head, "big"))
                request = pickle.loads(data)  # noqa: S301 (from our own parent)
                _answer(connection, request, file)


def _answer(connection: socket.socket, request: Request, file: BinaryIO) -> None:
    try:
        for batch in batches(request, file, sha256()):
            # Bare tuples take half the time to pack and unpack.
            _send(connection, [tuple(e) for e in batch.events], replace(batch, events=[]))
    except MemdeskError as err:
        _send(connection, [], err)


def _send(connection: socket.socket, rows: list[tuple[object, ...]], rest: object) -> None:
    data = pickle.dumps((rows, rest), protocol=pickle.HIGHEST_PROTOCOL)
    connection.sendall(len(data).to_bytes(_SIZE, "big"))
    connection.sendall(data)
