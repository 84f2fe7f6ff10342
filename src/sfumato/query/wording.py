"""Wording: everything that downloads and pages say, in files that a translator can fill in; sentences by key."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Self

from sfumato.foreign_text import filled, without_stop
from sfumato.query.grade import margin_bound
from sfumato.release.figures import Rounding, number
from sfumato.release.translator import sentence_in

OWN = "sfumato.query"
SCALES = {3: "scale.thousand", 6: "scale.million"}
"""What powers of ten that are left out of a number are called."""
_WAYS: Mapping[str, Rounding] = {
    "moe": math.ceil,
    "part_moe": math.ceil,
    "whole_moe": math.ceil,
    "low": math.floor,
    "high": math.ceil,
}
"""How what stands in a place is rounded, where it must hold as it is written."""
FEW = {0: "_zero", 1: "_one"}
"""What the key of a text ends in that is about none, or about one."""


@dataclass(frozen=True)
class Words:
    """The texts of one language by their keys, and how it writes numbers.

    >>> words("en")("sheet.total"), words("en").figure("1,234.5%"), words("de").figure("1,234.5")
    ('Total', '1,234.5%', '1.234,5')
    """

    code: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: Any) -> str:
        """The text of a key with its places filled in; a key that is not there is an error of ours, not of a reader."""
        return filled(self.texts[key], values) if values else self.texts[key]

    def counted(self, key: str, count: int, **values: Any) -> str:
        """The text of a key about so many, which stand in {count}; of one, and of none, in words of their own if any.

        >>> words("en", "sfumato.serve").counted("area.count", 1), words("en", "sfumato.serve").counted("area.count", 2)
        ('1 area', '2 areas')
        """
        own = f"{key}{FEW.get(count, '')}"
        return self(own if own in self.texts else key, count=self.figure(f"{count:,}"), **values)

    def figure(self, written: str) -> str:
        """A number written the English way, as this language writes it."""
        signs = {ord(","): self("number.thousands"), ord("."): self("number.decimal"), ord("%"): self("number.percent")}
        return written.translate(signs)

    def listed(self, group: str) -> dict[str, str]:
        """The texts of one group by the last part of their keys, in the order of the file."""
        start = f"{group}."
        return {key.removeprefix(start): text for key, text in self.texts.items() if key.startswith(start)}


@cache
def words(code: str, more: str = OWN) -> Words:
    """The texts of a language: what downloads say, and what a package that says more has beside it.

    A release may be in a language that there is no file for; what is said of it is then in English.

    >>> words("fr")("sheet.total")
    'Total'
    """
    if not (files(OWN) / "words" / f"{code}.toml").is_file():
        return words("en", more)
    found: dict[str, str] = {}
    for package in dict.fromkeys((OWN, more)):
        tables = tomllib.loads((files(package) / "words" / f"{code}.toml").read_text("utf-8"))
        found |= {f"{group}.{key}": str(text) for group, texts in tables.items() for key, text in texts.items()}
    return Words(code, found)


@cache
def languages() -> Mapping[str, str]:
    """The languages there is a file for, each by its own name, English first."""
    found = (path.name.removesuffix(".toml") for path in (files(OWN) / "words").iterdir())
    listed = sorted((code for code in found if "." not in code), key=lambda code: (code != "en", code))
    return {code: words(code)("language.name") for code in listed}


def grade_words(grades: Mapping[str, float], language: str = "en") -> dict[str, str]:
    """What each grade means, and what is said where there is none."""
    said = words(language)
    bounds = grade_bounds(grades, said)
    return {"-" if key == "none" else key: text.format(**bounds) for key, text in said.listed("grade").items()}


def grade_bounds(grades: Mapping[str, float], said: Words) -> dict[str, str]:
    r"""What the CV and the 90% margin of A and of B stay under, as shares of the number in a language.

    The CV as the publisher wrote it; the margin, which is 1.645 times as much, to three digits.

    >>> [grade_bounds({"A": 0.15, "B": 0.30}, words("de"))[name] for name in ("low", "low_margin")]
    ['15\xa0%', '24,7\xa0%']
    """
    written = {"low": f"{100 * grades['A']:.6g}", "high": f"{100 * grades['B']:.6g}"}
    margins = {"low_margin": margin_bound(grades["A"]), "high_margin": margin_bound(grades["B"])}
    written |= {name: f"{100 * bound:.3g}" for name, bound in margins.items()}
    return {name: said.figure(f"{one}%") for name, one in written.items()}


class Reason(str):
    """Why something is not stated, in English as the program has it until a sentence says it in a language."""

    __slots__ = ()

    def said(self, wording: Words) -> str:
        return without_stop(sentence_in(wording.code, str(self)))


class SpokenNumber(str):
    """A number as English writes it until a sentence says it in a language."""

    __slots__ = ()

    def said(self, wording: Words) -> str:
        return wording.figure(str(self))


class CountedNumber(SpokenNumber):
    """A number that is counted in thousands or millions, by the power of ten that is left out."""

    __slots__ = ("scale",)
    scale: int

    def __new__(cls, written: str, scale: int) -> Self:
        found = super().__new__(cls, written)
        found.scale = scale
        return found

    def said(self, wording: Words) -> str:
        return super().said(wording) + ("\u00a0" + wording(SCALES[self.scale]) if self.scale else "")


@dataclass(frozen=True)
class Sentence:
    """A sentence by its key and what stands in its places.

    >>> Sentence("error_noise", {"moe": 76.4}).english()
    'Everybody was counted; noise was added for privacy and stays within ± 76.4 in 90 of 100 cells.'
    """

    key: str
    values: Mapping[str, float | str] = field(default_factory=dict)

    def said(self, wording: Words) -> str:
        """The sentence in a language."""
        said = {name: _said(name, one, wording) for name, one in self.values.items()}
        return wording(f"sentence.{self.key}", **said)

    def english(self) -> str:
        return self.said(words("en"))


def _said(name: str, value: float | str, wording: Words) -> str:
    """What stands in one place of a sentence."""
    if isinstance(value, (Reason, SpokenNumber)):
        return value.said(wording)
    return value if isinstance(value, str) else wording.figure(number(value, _WAYS.get(name, round)))
