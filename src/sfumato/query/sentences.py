"""Sentences as keys with numbers, so that each page says them in its own language."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.query.wording import Words, words
from sfumato.release.figures import number


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
        said = {name: one if isinstance(one, str) else wording.figure(number(one)) for name, one in self.values.items()}
        return wording(f"sentence.{self.key}", **said)

    def english(self) -> str:
        return self.said(words("en"))
