"""Phrases: sentences that releases state in the language of the program, said in others by what stands in them.

A manifest is signed as it is, and says what it says in English. Readers of another language are told the same by the
form of each sentence: a line of a file has the English with holes, and the other language with the same holes. A
sentence of no known form stays as it is.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from sfumato.release.translation import NO_TRANSLATION, Translation

_HOLE = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"[\d.,]+%?")
_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
DEEPEST = 6
"""How far sentences may stand within one another."""
Form = tuple[re.Pattern[str], str]


@lru_cache(maxsize=16)
def _forms(language: str) -> tuple[Form, ...]:
    """Every known form of a sentence, and what it is in a language; none where there is no file for it."""
    path = Path(__file__).with_name(f"{language}.toml")
    listed = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    return tuple((_pattern(english), other) for english, other in listed.items())


def _pattern(english: str) -> re.Pattern[str]:
    parts = _HOLE.split(english)
    written = "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
    return re.compile(written, re.DOTALL)


@lru_cache(maxsize=1_000)
def retold(text: str, language: str) -> str:
    """A sentence of the program's own in a language, where its form is known; else as it is.

    >>> retold("mu 1.7321", "de"), retold("mu 1.7321", "en")
    ('mu 1,7321', 'mu 1.7321')
    """
    return Retold(language, NO_TRANSLATION, {}).sentence(text)


class Retold:
    """The sentences of one release in a language, with what its plan calls units and variables there."""

    def __init__(self, language: str, said: Translation, labels: Mapping[str, str]) -> None:
        self.forms, self.said, self.labels = _forms(language), said, labels
        self.thousands, self.decimal = (".", ",") if language == "de" else (",", ".")
        self.holes: Mapping[str, Callable[[str], str | None]] = {
            "unit": self._unit,
            "units": self._unit,
            "names": self._names,
            "label": self._names,
            "tables": self._tables,
            "crossed": self._tables,
            "a_unit": str,
            "aim": lambda text: self._digits(text.replace(" by ", " bei ")),
            "mechanism": lambda text: text if re.fullmatch(r"[\w-]+", text) else None,
            "delta": lambda text: self._digits(text) if re.fullmatch(r"[\d.e-]+", text) else None,
        }

    def sentence(self, text: str, deep: int = 0) -> str:
        """A sentence, or several, in the language; as it is where a form is not known."""
        return self._found(text, deep) or text

    def _found(self, text: str, deep: int = 0) -> str | None:
        if not text or text in self.said.sentences:
            return self.said.sentences.get(text, text)
        if deep > DEEPEST:
            return None
        for pattern, other in self.forms:
            if (found := pattern.fullmatch(text)) and (filled := self._filled(found.groupdict(), deep)) is not None:
                return other.format(**filled)
        parts = _SENTENCES.split(text)
        told = [self._found(part, deep + 1) for part in parts] if len(parts) > 1 else []
        return " ".join(one or "" for one in told) if told and None not in told else None

    def _filled(self, holes: Mapping[str, str], deep: int) -> dict[str, str] | None:
        """What stands in each hole, in the language; none where that is not known."""
        told = {name: self._hole(name, text, deep) for name, text in holes.items()}
        return None if None in told.values() else {name: one or "" for name, one in told.items()}

    def _hole(self, name: str, text: str, deep: int) -> str | None:
        if name.endswith("number"):
            return self._digits(text) if _NUMBER.fullmatch(text) else None
        if name in self.holes:
            return self.holes[name](text)
        return self._found(text, deep + 1)

    def _digits(self, text: str) -> str:
        swapped = {",": self.thousands, ".": self.decimal, "%": " %" if self.decimal == "," else "%"}
        return "".join(
            swapped[letter] if letter in swapped and (place == 0 or text[place - 1].isdigit()) and (
                letter == "%" or text[place + 1 : place + 2].isdigit()
            ) else letter
            for place, letter in enumerate(text)
        )  # fmt: skip

    def _unit(self, text: str) -> str | None:
        told = self.said.units.get(text) or self.said.units.get(text.removesuffix("s")) or text
        return told if re.fullmatch(r"[\w -]+", text) else None

    def _tables(self, text: str) -> str:
        """Tables by the labels of their variables, as `Trade × Place, of Trade × Sex`."""
        tables = [[self.labels.get(name.lower(), name) for name in one.split(" × ")] for one in text.split(", of ")]
        return "; ".join(" × ".join(names) for names in tables)

    def _names(self, text: str) -> str | None:
        """A list of variables by their labels; one that is a column alone keeps its name."""
        names = re.split(r", | and ", text)
        if not all(re.fullmatch(r"[\w() -]+", name) for name in names):
            return None
        told = [self.labels.get(name.lower(), name) for name in names]
        return " und ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else told[0]
