"""Phrases: sentences that the program states in English, said in other languages by what stands in them.

A manifest is signed as it is, and says what it says in English. Readers of another language are told the same by the
form of each sentence: a line of a file has the English with holes, and the other language with the same holes. A
sentence of no known form stays as it is.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_HOLE = re.compile(r"\{(\w+)\}")
LONGEST = 5_000
"""The most characters of a sentence whose form is looked for."""


@dataclass(frozen=True)
class SentenceForm:
    """The form of a sentence: how it is in English, and in another language."""

    english: re.Pattern[str]
    other: str

    @classmethod
    def of(cls, english: str, other: str) -> "SentenceForm":
        parts = _HOLE.split(english)
        written = "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
        return cls(re.compile(written, re.DOTALL), other)

    def holes(self, text: str) -> dict[str, str] | None:
        """What stands in each hole of a sentence of this form; none where it is of another."""
        found = self.english.fullmatch(text) if len(text) <= LONGEST else None
        return found.groupdict() if found else None


@lru_cache(maxsize=16)
def sentence_forms(language: str) -> tuple[SentenceForm, ...]:
    """Every known form of a sentence, and what it is in a language; none where there is no file for it."""
    path = Path(__file__).with_name(f"{language}.toml")
    listed = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    return tuple(SentenceForm.of(english, other) for english, other in listed.items())
