"""Translator: what a release says, in another language; whatever nobody said in it stays, and knows what it is in.

Texts of a plan are said again by the plan itself. Sentences of the program's own, as a promise or why a cell holds no
number, are said again by their form, with what the plan calls units and variables.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from sfumato.foreign_text import filled, foreign, joined
from sfumato.release.phrases import sentence_forms
from sfumato.release.translation import NO_TRANSLATION, Translation
from sfumato.release.weighting import WORDS, not_weighted, split_title
from sfumato.schema import Attribute
from sfumato.schema.languages import OWN

_NUMBER = re.compile(r"[\d.,]+%?")
_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
DEEPEST = 6
"""How far sentences may stand within one another."""


class Translator:
    """The texts of one release in a language."""

    def __init__(
        self, language: str, said: Translation = NO_TRANSLATION, labels: Mapping[str, str] | None = None, own: str = OWN
    ) -> None:
        self.language, self.own_language, self.said, self.labels = language, own, said, labels or {}
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

    def stays(self, text: str) -> str:
        """A text of the plan that nobody said in this language."""
        return text if self.own_language == self.language else foreign(text, self.own_language)

    def title(self, text: str) -> str:
        """The title of a statistic."""
        base = split_title(text, self.own_language)
        if text in self.said.titles or base is None or self.language not in WORDS:
            return self.said.titles.get(text) or self.stays(text)
        return not_weighted(self.said.titles.get(base) or self.stays(base), self.language)

    def headed(self, text: str) -> str:
        """The title of the release."""
        return self.said.title or self.stays(text)

    def unit(self, text: str) -> str:
        return self.said.units.get(text) or self.stays(text)

    def label(self, name: str, label: str) -> str:
        """The label of a variable."""
        return self.said.labels.get(name) or self.stays(label)

    def attribute(self, attribute: Attribute) -> Attribute:
        """A variable with its levels."""
        if self.own_language == self.language:
            return attribute
        return attribute.in_language(self.language, self.said.labels.get(attribute.name, ""), self.own_language)

    def remark(self, text: str) -> str:
        """A sentence of the plan's own."""
        return self.said.sentences.get(text) or self.stays(text)

    def sentence(self, text: str) -> str:
        """A sentence of the program's own, or several of them."""
        return self._found(text, 0) or (text if self.language == OWN else foreign(text, OWN))

    def _found(self, text: str, deep: int) -> str | None:
        if not text or text in self.said.sentences:
            return self.said.sentences.get(text, text)
        if deep > DEEPEST:
            return None
        for form in sentence_forms(self.language):
            holes = form.holes(text)
            if holes is not None and (told := self._filled(holes, deep)) is not None:
                return filled(form.other, told)
        parts = _SENTENCES.split(text)
        each = [self._found(part, deep + 1) for part in parts] if len(parts) > 1 else []
        return joined(" ", (one or "" for one in each)) if each and None not in each else None

    def _filled(self, holes: Mapping[str, str], deep: int) -> dict[str, str] | None:
        """What stands in each hole, in the language; none where that is not known."""
        told = {name: self._hole(name, text, deep) for name, text in holes.items()}
        return None if None in told.values() else {name: one or "" for name, one in told.items()}

    def _hole(self, name: str, text: str, deep: int) -> str | None:
        if name.endswith("number"):
            return self._digits(text) if _NUMBER.fullmatch(text) else None
        if name.endswith("text"):
            return text
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
        told = self.said.units.get(text) or self.said.units.get(text.removesuffix("s")) or self.stays(text)
        return told if re.fullmatch(r"[\w -]+", text) else None

    def _tables(self, text: str) -> str:
        """Tables by the labels of their variables, as `Trade × Place, of Trade × Sex`."""
        tables = ([self._name(name) for name in one.split(" × ")] for one in text.split(", of "))
        return joined("; ", (joined(" × ", names) for names in tables))

    def _names(self, text: str) -> str | None:
        """A list of variables by their labels; one that is a column alone keeps its name."""
        names = re.split(r", | and ", text)
        if not all(re.fullmatch(r"[\w() -]+", name) for name in names):
            return None
        told = [self._name(name) for name in names]
        return joined(" und ", [joined(", ", told[:-1]), told[-1]]) if len(told) > 1 else told[0]

    def _name(self, name: str) -> str:
        """What a variable is called."""
        return self.labels.get(name.lower()) or self.stays(name)


@lru_cache(maxsize=1_000)
def sentence_in(language: str, text: str) -> str:
    """A sentence of the program's own that is of no one release.

    >>> sentence_in("de", "mu 1.7321"), sentence_in("en", "mu 1.7321")
    ('mu 1,7321', 'mu 1.7321')
    """
    return Translator(language).sentence(text)
