"""Finished runs of a sweep in a file, so that the same call goes on after whatever ended it. A record is written as a whole or
counts as not written."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

from gyrator._errors import CallError, GyratorError
from gyrator._result import Result

if TYPE_CHECKING:
    from gyrator._model import Model

_MAGIC = b"gyrator sweep 1\n"


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
            size = file.read(8)
            record = file.read(int.from_bytes(size, "little")) if len(size) == 8 else b""
            if len(size) < 8 or len(record) < int.from_bytes(size, "little"):
                # A kill left a part of it.
                file.seek(whole)
                file.truncate()
                return
            place, run = pickle.loads(record)
            self.runs[place] = run

    def add(self, found: Iterable[tuple[int, Result | GyratorError]]) -> None:
        """Writes what is done."""
        if self._file is None:
            raise CallError("the journal is not open")
        for place, run in found:
            record = pickle.dumps((place, run), protocol=4)
            self._file.write(len(record).to_bytes(8, "little") + record)
            self.runs[place] = run
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
