"""The languages that a chat model can be asked to answer in."""

from typing import Literal, get_args

# fmt: off
LanguageChoice = Literal[
    "auto", "ar", "cs", "de", "el", "en", "es", "fr", "he", "hi", "id", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv",
    "tr", "uk", "vi", "zh",
]
# fmt: on
"""The codes of ISO 639-1; "auto" is the language of the question."""

LANGUAGES: dict[LanguageChoice, str] = dict(
    zip(
        get_args(LanguageChoice)[1:],
        "Arabic Czech German Greek English Spanish French Hebrew Hindi Indonesian Italian Japanese Korean Dutch Polish "
        "Portuguese Russian Swedish Turkish Ukrainian Vietnamese Chinese".split(),
        strict=True,
    )
)
"""Their English names."""


def asked_in(question: str, *, language: LanguageChoice) -> str:
    """`question` as a chat model is asked it that is to answer in `language`."""
    return question if language == "auto" else f"{question}\n\nAnswer in {LANGUAGES[language]}."
