"""What a model's text must not hold, as patterns, and where what they begin ends. Used by `rag.cleaning` alone."""

import re

_CONTENT = "script|style|tool_calls?|function_calls?|tool_response"
_BARE = f"{_CONTENT}|svg|iframe|frame|embed|applet|meta|img|picture|marquee|source"
_CLOSED = (
    f"{_BARE}|video|audio|div|span|a|details|object|form|button|input|select|textarea|canvas|dialog|link|base|track|map"
)
_ATTRIBUTE = "on[a-z]{3,24}|style|src|srcset|href|xlink:href|action|formaction|data|poster|background|ping|http-equiv"
_SCHEME = "https?|ftp|javascript|vbscript|data|file|blob|mailto|wss?"
_NAME = r"[A-Z][\w'’.-]{0,30}"

_TEMPLATE = (
    r"<[|｜][\w/ ▁-]{1,40}[|｜]>|<</?SYS>>|<<>>|\[/?INST\]|</?s>|</?(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>"
    r"|\[/?(?:AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]"
)
TEMPLATE_TOKEN = re.compile(_TEMPLATE)
"""How chat templates mark turns and tools: ChatML, Llama 2 to 4, Mistral, Gemma, DeepSeek, Qwen; an emptied fence."""

TOKEN = re.compile(
    rf"""(?:
    (?P<template>{_TEMPLATE})
  | (?P<block><(?:!--|(?:{_CONTENT})[\s>]))
  | (?P<tag></(?:{_CLOSED})\s{{0,3}}> | <(?:(?i:{_BARE})[\s/>]
      | [A-Za-z][^<>]{{0,119}}?[\s/"'](?i:{_ATTRIBUTE})\s{{0,3}}=))
  | (?P<fence>(?:`{{3,8}}|~{{3,8}})[ ]{{0,3}}(?i:mermaid|svg|x?html?)[^\n`]{{0,40}}\n)
  | (?P<destination>\]\(\s{{0,3}}<?(?:(?i:{_SCHEME}):|//|(?i:www)\.))
  | (?P<command>\\(?:href|url|includegraphics|input|include|html[A-Za-z]{{0,16}})[^A-Za-z])
  | (?P<url>(?i:https?|ftp)://|(?i:www)\.)
  | (?P<author_year>[ ]?\((?:see\ |cf\.\ |e\.g\.,?\ )?{_NAME}(?:\ et\ al\.?|\ (?:and|&)\ {_NAME})
      [^()\n]{{0,50}}\b(?:19|20)\d\d[a-z]?\))
    )\Z""",
    re.VERBOSE,
)
"""A token that ends with the text. Those that go on, by their group's name, end where `skip_of` says."""

OPEN_TOKEN = re.compile(
    rf"""(?:
    <(?:[|｜][\w/ ▁-]{{0,40}}[|｜]? | </?S?Y?S?>? | ! | !- | [/]?[A-Za-z]?[^<>]{{0,120}})?
  | \[(?:/?[A-Z_]{{0,16}})
  | [`~]{{1,8}} | (?:`{{3,8}}|~{{3,8}})[ ]{{0,3}}(?:[A-Za-z]{{0,8}}|(?i:mermaid|svg|x?html?)[^\n`]{{0,40}})
  | \](?:\(\s{{0,3}}<?(?:[A-Za-z]{{0,10}}|/)?)?
  | \\[A-Za-z]{{0,20}}
  | (?i:h|ht|htt|https?|https?:|https?:/|f|ft|ftp|ftp:|ftp:/|w|ww|www)
  | [ ]?(?:\((?:(?:see|cf\.|e\.g\.,?)[ ]?|[secf.g,]{{0,5}})(?:{_NAME}(?:[ ](?:[ea&]|et?|et\ a?l?\.?|an?d?)?
      |[ ](?:et\ al\.?|(?:and|&)\ )[^()\n]{{0,90}})?)?)?
    )\Z""",
    re.VERBOSE,
)
"""A beginning of a token at the end of the text."""

TOKEN_STARTS = frozenset("<[`~]\\hHfFwW ( ")
"""The characters that a token may begin with."""

URL_END = re.compile(r"[\s<>\"'`)\]}|\\^]")
URL_TAIL = re.compile(r"[.,;:!?*_]+\Z")


class Until:
    """Skips up to one of some endings, of which those that are blank lines stay in the text."""

    def __init__(self, *ends: str) -> None:
        self._ends = ends
        self._tail = ""

    def feed(self, character: str) -> str | None:
        """None while skipping; at the end what of it stays."""
        self._tail = (self._tail + character.lower())[-max(map(len, self._ends)) :]
        end = next((end for end in self._ends if self._tail.endswith(end)), None)
        return None if end is None else end if end.isspace() else ""


class Destination:
    """Skips a link's address up to the bracket that closes it, which stays."""

    def __init__(self) -> None:
        self._depth = 1

    def feed(self, character: str) -> str | None:
        """None while skipping; at the end what of it stays."""
        self._depth += {"(": 1, ")": -1}.get(character, 0)
        return ")" if self._depth == 0 else ")\n" if character == "\n" else None


class Arguments:
    """Skips a LaTeX command's optional argument and its first one; `opener` is the character behind its name."""

    def __init__(self, opener: str) -> None:
        self._stack = [opener]

    def feed(self, character: str) -> str | None:
        """None while skipping; at the end what of it stays."""
        if character == "\n":
            return "\n"
        if not self._stack:  # behind the optional argument
            if character != "{":
                return character
            self._stack.append(character)
        elif character in "{[" and (character == "{" or self._stack[0] == "["):
            self._stack.append(character)
        elif character == {"{": "}", "[": "]"}[self._stack[-1]]:
            opener = self._stack.pop()
            return "" if not self._stack and opener == "{" else None
        return None


Skip = Until | Destination | Arguments


def skip_of(rule: str, found: str) -> Skip | None:
    """How a token goes on that begins with `found`; None where it is complete."""
    if rule == "block":
        return Until("-->", "\n\n") if found.startswith("<!") else Until(f"</{found[1:-1].lower()}>", "\n\n")
    if rule == "tag" and found[-1] != ">":
        return Until(">", "\n")
    if rule == "fence":
        return Until("\n" + found.lstrip()[:3])
    if rule == "destination":
        return Destination()
    if rule == "command" and found[-1] in "{[":
        return Arguments(found[-1])
    return None
