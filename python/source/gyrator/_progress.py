"""A bar with the rate and the time that remains."""

from __future__ import annotations

import sys
import time


class Progress:
    """Writes to standard error, a few times a second."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.begin = time.monotonic()
        self.last = 0.0
        #: What was there before the first run.
        self.there: int | None = None

    def at(self, done: int) -> None:
        now = time.monotonic()
        if self.there is None:
            self.there = max(done - 1, 0)
        if now - self.last < 0.2 and done < self.count:
            return
        self.last = now
        rate = (done - self.there) / max(now - self.begin, 1e-9)
        left = (self.count - done) / rate if rate > 0 else 0.0
        bar = "█" * (20 * done // max(self.count, 1))
        sys.stderr.write(f"\r{bar:░<20} {done}/{self.count}  {rate:.3g}/s  {_duration(left)} left ")
        sys.stderr.flush()

    def end(self) -> None:
        if self.last:
            sys.stderr.write("\n")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
