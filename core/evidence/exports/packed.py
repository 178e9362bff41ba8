"""Compressed session files, read through a copy of what they hold (formats 2.1).

The unpacked bytes are what is stored and what spans count, so a rollout that was compressed is the
file it was. A frame has no place to begin at but its start: all is unpacked each time, and only
what the stored file lacks is read on. Nothing is read of a file that is not whole.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO

from schemas.errors import Refused

_MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 11
"""Bytes fed at once: a block of four bytes may stand for 128 KiB, so 64 MiB come of them."""
_WINDOW = 1 << 27
"""What a frame may ask to be remembered: the bound `zstd` itself has without `--long`."""
_RATIO = 1_000
_FREE = 1 << 26
"""So much may come of any file: repetition that short harms nobody."""


def is_packed(file: BinaryIO) -> bool:
    """True for a file that begins as a Zstandard frame does; it stands at its beginning after."""
    head = file.read(len(_MAGIC))
    file.seek(0)
    return head == _MAGIC


def unpacked(
    file: BinaryIO, limit: int, scratch: Path | None = None, *, first: int | None = None
) -> BinaryIO:
    """All a file's frames hold, as a file without a name in `scratch`; with `first`, at least so
    many bytes of their beginning, if there are, and the rest is not looked at.

    `limit` is in unpacked bytes. Raises Refused `evidence.compressed` for a damaged or cut frame
    or what follows the last one, `evidence.unpacked-size` for one that holds more than it may.
    """
    out = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 (the importer closes it)
    try:
        _unpack(file, out, limit, first)
    except BaseException:
        out.close()
        raise
    out.flush()
    out.seek(0)
    return out


def _unpack(file: BinaryIO, out: BinaryIO, limit: int, first: int | None) -> None:
    # Loaded where there is a compressed file only.
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    frame, begun, fed, held = decompressor.decompressobj(), False, 0, 0
    try:
        while data := file.read(_PIECE):
            fed += len(data)
            while data:
                piece = frame.decompress(data)
                out.write(piece)
                held += len(piece)
                if held > limit or (held > _FREE and held > fed * _RATIO):
                    raise Refused("evidence.unpacked-size", unpacked=held, limit=limit)
                begun = not frame.eof
                data = frame.unused_data if frame.eof else b""
                if frame.eof:
                    frame = decompressor.decompressobj()
            if first is not None and held >= first:
                return
    except zstandard.ZstdError as err:
        raise Refused("evidence.compressed", f"It can't be unpacked: {err}.") from err
    if begun:
        raise Refused("evidence.compressed", "It ends inside a frame.")
