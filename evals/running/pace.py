"""How many questions are asked at once: fewer when an endpoint is busy, slowly more when it is not."""

FIRST = 4


class Pace:
    """Additive increase, multiplicative decrease (Chiu and Jain 1989), from at most 4 up to `most` at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(FIRST, most))
        self._lowered_at = 0
        self._done = 0

    @property
    def limit(self) -> int:
        """How many may be under way."""
        return max(1, int(self._limit))

    def note(self, *, is_slowed: bool) -> None:
        """Takes in how one question went. What was asked before the last decrease ends cannot decrease it again."""
        self._done += 1
        if not is_slowed:
            self._limit = min(float(self._most), self._limit + 1 / self._limit)
        elif self._done > self._lowered_at:
            self._lowered_at = self._done + self.limit - 1
            self._limit = max(1.0, self._limit / 2)
