"""Words: everything the pages say, in one language, read from a file that a translator can fill in."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_FOLDER = "words"


@dataclass(frozen=True)
class Words:
    """The texts of one language by their keys, and how it writes numbers.

    >>> words("en")("build.rows"), words("en").figure("1,234.5%"), words("de").figure("1,234.5")
    ('Rows', '1,234.5%', '1.234,5')
    """

    code: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: Any) -> str:
        """The text of a key with its places filled in; a key that is not there is an error of ours, not of a reader."""
        return self.texts[key].format(**values) if values else self.texts[key]

    def figure(self, written: str) -> str:
        """A number written the English way, as this language writes it."""
        signs = {ord(","): self("number.thousands"), ord("."): self("number.decimal"), ord("%"): self("number.percent")}
        return written.translate(signs)

    def listed(self, group: str) -> dict[str, str]:
        """The texts of one group by the last part of their keys, in the order of the file."""
        start = f"{group}."
        return {key.removeprefix(start): text for key, text in self.texts.items() if key.startswith(start)}


@cache
def words(code: str) -> Words:
    written = tomllib.loads((files("sfumato.serve") / _FOLDER / f"{code}.toml").read_text("utf-8"))
    return Words(code, dict(_flat(written)))


@cache
def languages() -> Mapping[str, str]:
    """The languages there is a file for, each by its own name."""
    found = sorted(path.name.removesuffix(".toml") for path in (files("sfumato.serve") / _FOLDER).iterdir())
    return {code: words(code)("language.name") for code in found if "." not in code}


def _flat(tables: Mapping[str, Any], start: str = "") -> list[tuple[str, str]]:
    found = []
    for key, value in tables.items():
        found += _flat(value, f"{start}{key}.") if isinstance(value, dict) else [(f"{start}{key}", str(value))]
    return found
