"""The numbers of a sentence with their units: "22.3%", "2.5 times", "12k", "half", "three"."""

import re
from dataclasses import dataclass
from typing import Literal

Unit = Literal["percent", "times", "plain"]

_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12}
_PERCENT = {"%", "percent", "percentage point", "percentage points", "per cent", "pp", "Prozent", "Prozentpunkte"}
_TIMES = {"x", "times", "fold", "-fold"}
_NUMBER = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+|,\d{1,2}(?![\d,]))?)(?P<power>\^-?\d+)?"
    r"(?:\s?(?P<unit>%|percent(?:age\s+points?)?|Prozent(?:punkte)?|per\s+cent|pp\b|x(?!\w)|times\b|-?fold\b)"
    r"|(?P<scale>\s?(?:thousand|million|billion|trillion)\b|[kKMBT](?!\w)))?(?P<rest>[A-Za-z]\w*)?"
)
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)
_WORDS: dict[str, tuple[float, Unit]] = {word: (float(value), "plain") for value, word in enumerate(_ONES)}
_WORDS |= {"single": (1, "plain"), "both": (2, "plain"), "dozen": (12, "plain"), "thirty": (30, "plain")}
_WORDS |= {"forty": (40, "plain"), "fifty": (50, "plain"), "hundred": (100, "plain")}
_VAGUE = {"dozens": 1, "hundreds": 2, "thousands": 3, "millions": 6, "billions": 9, "trillions": 12}
_WORDS |= {word: (10.0**power, "plain") for word, power in _VAGUE.items()}
_WORDS |= dict.fromkeys(("half", "halves", "halved", "halving"), (50.0, "percent"))
_WORDS |= dict.fromkeys(("twice", "double", "doubles", "doubled", "twofold"), (2.0, "times"))
_WORDS |= dict.fromkeys(("triple", "triples", "tripled", "threefold"), (3.0, "times"))
_ROUNDS_TO = 2


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it was written (`surface`), its value with "12k" as 12000, its unit, and how precise it was given.

    `spelled` tells a number word. `decimals` is the number of decimal places.
    """

    surface: str
    value: float
    unit: Unit
    decimals: int
    spelled: bool

    @property
    def is_specific(self) -> bool:
        """Whether evidence must have it: a number in figures, or "millions"; words such as "two" are used loosely."""
        return not self.spelled or self.magnitude is not None

    @property
    def magnitude(self) -> int | None:
        """The power of ten of a word for many, "millions": 6; None for a number."""
        return _VAGUE.get(self.surface.lower())

    def matches(self, other: "Quantity") -> bool:
        """Whether `other`, of the evidence, says the same: equal, or equal when rounded to this one's decimals.

        A number without a unit matches one with any, and "millions" any number of millions, but not the reverse.
        A ratio below 1 is no percentage: "0.49" does not say 0.49 %.
        """
        if self.magnitude is not None:
            return other.unit != "percent" and _order(self.value) == _order(other.value)
        if other.magnitude is not None:
            return False
        if self.unit != other.unit and "plain" not in (self.unit, other.unit):
            return False
        if self.unit == "percent" and other.unit == "plain" and 0 < other.value < 1:
            return False
        if abs(self.value - other.value) <= 1e-9 * max(abs(self.value), 1.0):
            return True
        digits = len(re.sub(r"\D", "", self.surface).lstrip("0"))
        return (
            digits >= _ROUNDS_TO and other.decimals > self.decimals and round(other.value, self.decimals) == self.value
        )


_SMALL = 20


def is_count(quantity: Quantity | None) -> bool:
    """Whether it is a small whole number, as things are counted with."""
    return (
        quantity is not None
        and (quantity.unit, quantity.decimals, quantity.magnitude) == ("plain", 0, None)
        and quantity.value <= _SMALL
    )


def _order(value: float) -> int:
    """The power of ten that a word for so many has: 6 for 2,500,000, 3 for 40,000."""
    return max((power for power in _VAGUE.values() if 10.0**power <= value), default=0)


def read_quantity(text: str, start: int) -> tuple[Quantity, int] | None:
    """The number in figures that begins at `start` of a normalised text, and where it ends.

    None where none begins there, or where it goes on as a name ("3D", "4th").
    """
    match = _NUMBER.match(text, start)
    if match is None or match["rest"]:
        return None
    digits = match["number"]
    # "22,3" has a decimal comma, as German and French write it; "1,000" has none.
    digits = digits.replace(",", "" if re.search(r",\d{3}", digits) else ".")
    value = float(digits)
    if match["power"]:
        value = value ** float(match["power"][1:]) if abs(float(match["power"][1:])) < 40 else float("inf")
    unit_text = " ".join((match["unit"] or "").split())
    unit: Unit = "percent" if unit_text in _PERCENT else "times" if unit_text in _TIMES else "plain"
    decimals = len(digits.partition(".")[2])
    scale = _SCALES[match["scale"].strip().lower()] if match["scale"] else 1.0
    quantity = Quantity(match.group().strip(), value * scale, unit, decimals if scale == 1.0 else 0, spelled=False)
    return quantity, match.end()


def spelled_quantity(word: str) -> Quantity | None:
    """The number that a word in lower case says, None where it says none."""
    known = _WORDS.get(word)
    return Quantity(word, known[0], known[1], 0, spelled=True) if known else None
