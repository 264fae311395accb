"""LaTeX to MathML that a browser may be given: elements and attributes from a fixed list, all text escaped."""

import html
from functools import lru_cache
from xml.etree import ElementTree

_TAGS = frozenset(
    "math mrow mi mo mn mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd "
    "mstyle mpadded mphantom menclose mmultiscripts".split()
)
_ATTRIBUTES = frozenset(
    "accent columnalign displaystyle fence form largeop linethickness lspace mathvariant maxsize minsize "
    "movablelimits notation rspace scriptlevel separator stretchy symmetric".split()
)
_STANDARD_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, StopIteration, TypeError, ValueError)
"""What latex2mathml raises on broken LaTeX besides its own errors, which share no base class (found by fuzzing)."""


@lru_cache(maxsize=4096)
def to_mathml(latex: str, *, block: bool = False) -> str | None:
    """The MathML element for `latex`, or None where it cannot be converted whole.

    latex2mathml writes `\\text{<img>}` and `\\href{javascript:...}` through as live markup, so its tree is rebuilt
    here from known elements and attributes, and serialised with every text escaped.
    """
    import latex2mathml.converter
    from latex2mathml import exceptions

    own_faults = [fault for fault in vars(exceptions).values() if isinstance(fault, type)]
    faults: tuple[type[Exception], ...] = (*own_faults, *_STANDARD_FAULTS)
    try:
        converted = latex2mathml.converter.convert_to_element(latex, display="block" if block else "inline")
        rebuilt = _rebuild(converted)
    except faults:
        return None
    if any("\\" in (node.text or "") for node in rebuilt.iter()):
        return None  # a command that latex2mathml does not know is left standing as text
    rebuilt.set("display", "block" if block else "inline")
    return ElementTree.tostring(rebuilt, encoding="unicode")


def _rebuild(element: ElementTree.Element) -> ElementTree.Element:
    """A copy of known elements and attributes; raises ValueError at an unknown element."""
    if element.tag not in _TAGS:
        raise ValueError(element.tag)
    attributes = {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES}
    copy = ElementTree.Element(element.tag, attributes)
    copy.text = html.unescape(element.text) if element.text else None
    copy.extend([_rebuild(child) for child in element])
    return copy
