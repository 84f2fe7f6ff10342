"""Sentences as keys with numbers, so that each page says them in its own language; `ENGLISH` has them in one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.release.figures import number

ENGLISH = {
    "error_both": "{value} ± {moe} holds the true number of {unit} in 90 of 100 such cells; "
    "{percent}% of its squared error is privacy noise, the rest comes from having asked a sample.",
    "error_noise": "Everybody was counted; noise was added for privacy and stays within ± {moe} in 90 of 100 cells.",
    "error_none": "This number has no error: it holds no noise and everybody was counted.",
    "error_withheld": "The error cannot be stated: {reason}.",
    "missing": "There is no number here: {reason}.",
    "impossible": "There is no such combination, so the number is 0 by definition.",
    "negative": "It is below 0 because noise of about ± {moe} was added to a small number; "
    "it is kept as it is, so that sums stay right.",
    "maybe_noise": "Noise is 0 in most cells and moved about {moved} of the {cells} cells of the whole table, "
    "so a single small number may be noise alone: look at sums.",
    "add": "You may add such numbers: sums are exact. The error of a sum is not the sum of the errors, so ask for it.",
    "add_overlap": "Some of the groups shown share records, so adding them would count those twice.",
    "add_never": "Numbers of this kind may not be added; each stands for itself.",
    "protected": "Noise was added once to each of the {cells} published cells in it ({mechanism}), "
    "so that the whole release has {loss}.",
    "protected_one": "Noise was added to it once, before publication ({mechanism}), "
    "so that the whole release has {loss}.",
    "differ": "They differ: at {percent}% the difference lies between {low} and {high}.",
    "may_be_same": "They may well be the same: at {percent}% the difference lies between {low} and {high}.",
    "differ_unsaid": "Whether they differ cannot be said: {reason}.",
}


@dataclass(frozen=True)
class Sentence:
    """A sentence by its key and what stands in its places.

    >>> Sentence("error_noise", {"moe": 76.4}).english()
    'Everybody was counted; noise was added for privacy and stays within ± 76.4 in 90 of 100 cells.'
    """

    key: str
    values: Mapping[str, float | str] = field(default_factory=dict)

    def english(self) -> str:
        said = {name: one if isinstance(one, str) else number(one) for name, one in self.values.items()}
        return ENGLISH[self.key].format(**said)
