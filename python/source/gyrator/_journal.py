"""Finished runs of a sweep in a file, so that the same call goes on after whatever ended it. A record is written as a whole or
counts as not written."""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
import zlib
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from gyrator._errors import CallError, GyratorError
from gyrator._result import Result

if TYPE_CHECKING:
    from gyrator._model import Model

_MAGIC = b"gyrator sweep 2\n"


class Journal:
    """The runs that are there, and a file that new ones are written to."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: Model,
        wanted: list[dict[str, Any]],
        keep: list[str] | None,
        settings: Mapping[str, Any],
    ) -> None:
        self.path = os.fspath(path)
        self.runs: dict[int, Result | GyratorError] = {}
        # Everything that the outcomes depend on; texts instead of translations.
        parts = (model.__reduce__()[1], wanted, keep, sorted(settings.items(), key=lambda item: item[0]))
        self._identity = hashlib.sha256(pickle.dumps(parts, protocol=4)).digest()
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Journal:
        mode = "r+b" if os.path.exists(self.path) else "w+b"
        self._file = open(self.path, mode)
        head = self._file.read(len(_MAGIC) + len(self._identity))
        if not head or (len(head) < len(_MAGIC) + len(self._identity) and _MAGIC.startswith(head[: len(_MAGIC)])):
            self._file.seek(0)
            self._file.truncate()
            self._file.write(_MAGIC + self._identity)
            self._file.flush()
        elif not head.startswith(_MAGIC):
            self._file.close()
            raise CallError(f"`{self.path}` exists and is no journal of a sweep; name another file")
        elif head[len(_MAGIC) :] != self._identity:
            self._file.close()
            raise CallError(f"`{self.path}` belongs to another sweep: the model, the variants or the settings have changed since")
        else:
            self._read(self._file)
        return self

    def _read(self, file: IO[bytes]) -> None:
        while True:
            whole = file.tell()
            head = file.read(12)
            size, check = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little")
            record = file.read(size) if len(head) == 12 else b""
            if len(head) < 12 or len(record) < size or zlib.crc32(record) != check:
                # A kill left a part of it, or it was damaged later: this one and those behind it run again.
                file.seek(whole)
                file.truncate()
                return
            place, run = pickle.loads(record)
            self.runs[place] = run

    def add(self, place: int, run: Result | GyratorError) -> None:
        """Writes a run that is done. Several threads may call it."""
        record = pickle.dumps((place, run), protocol=4)
        head = len(record).to_bytes(8, "little") + zlib.crc32(record).to_bytes(4, "little")
        with self._lock:
            if self._file is None:
                raise CallError("the journal is not open")
            self._file.write(head + record)
            self._file.flush()
            self.runs[place] = run

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
