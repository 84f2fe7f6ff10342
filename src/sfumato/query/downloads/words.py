"""What downloads say, in the languages there is a file for."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES = {"en": "English", "de": "Deutsch"}
Texts = Mapping[str, Mapping[str, str]]


@cache
def texts(language: str) -> Texts:
    """The texts of a language by group and key; names come from the list of languages alone."""
    written = files("sfumato.query") / "words" / f"{language}.toml"
    if language not in LANGUAGES:
        raise KeyError(language)
    return tomllib.loads(written.read_text("utf-8"))


def grade_words(grades: Mapping[str, float], language: str = "en") -> dict[str, str]:
    """What each grade means."""
    said, signs = texts(language)["grade"], str.maketrans(dict(texts(language)["number"]))
    share = {name: f"{100 * grades[grade]:.3g}%".translate(signs) for name, grade in (("low", "A"), ("high", "B"))}
    return {"A": said["A"], "B": said["B"], "C": said["C"], "-": said["none"]} | {
        grade: said[grade].format(**share) for grade in ("A", "B", "C")
    }
