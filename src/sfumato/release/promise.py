"""Promise: the guarantee as a manifest states it, in words and numbers."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from sfumato.errors import SfumatoError
from sfumato.privacy import exact
from sfumato.privacy.notation import loss_from_dict

LARGEST_LOSS, LONGEST_LOSS = 10**12, 4_000
"""A larger loss promises nothing; one in more digits takes long to read."""


def _exact_amounts(written: dict[str, str]) -> dict[str, str]:
    for name, one in written.items():
        if len(one) > LONGEST_LOSS or (name != "unbounded" and abs(exact(one, name)) > LARGEST_LOSS):
            raise ValueError(f"{name} is larger, or in more digits, than any loss that is meant")
    return written


def _amounts(written: dict[str, str]) -> dict[str, str]:
    """Amounts of a loss, none so large that a chance cannot be computed of it."""
    try:
        return _exact_amounts(written)
    except SfumatoError as error:
        raise ValueError(str(error)) from None


def _terms(written: dict[str, str]) -> dict[str, str]:
    try:
        loss_from_dict(_exact_amounts(written))
    except SfumatoError as error:
        raise ValueError(str(error)) from None
    return written


Chance = Annotated[float, Field(ge=0, le=1)]
LossAmounts = Annotated[dict[str, str], AfterValidator(_amounts)]
LossTerms = Annotated[dict[str, str], AfterValidator(_terms)]
"""A loss as `privacy.notation` writes it."""


class ManifestPart(BaseModel):
    """A part of a manifest: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ImpliedLine(ManifestPart):
    """Whom the same promise hides besides, and what he loses, in words."""

    whom: str
    loss: str


class Promise(ManifestPart):
    """The guarantee in words and numbers."""

    hidden: dict[str, Any]
    words: str
    loss: LossTerms
    limit: LossTerms
    loss_words: str
    power_at_5_percent: Chance
    right_guess_from_even_odds: Chance | None = None
    """The largest chance, from even odds, to say rightly which of two neighbours it was."""
    posterior_from_even_odds: Chance | None = None
    """The same in releases made before, which called it so."""
    posterior_above: dict[str, Chance] = Field(default_factory=dict)
    """How likely, from even odds, somebody becomes so sure of the truth, at most: {"90%": 0.0974}."""
    not_hidden: str = ""
    implied: list[ImpliedLine] = Field(default_factory=list)
    """The same loss read as other promises, as of establishments by their size."""
    near: bool = False

    @model_validator(mode="after")
    def _refuse_unsaid(self) -> Self:
        if (self.right_guess_from_even_odds is None) == (self.posterior_from_even_odds is None):
            raise ValueError("right_guess_from_even_odds is said once, by that name or as posterior_from_even_odds")
        return self

    @property
    def right_guess(self) -> float:
        """The largest chance of a right guess from even odds, by whichever name the release has for it."""
        told = self.right_guess_from_even_odds
        return float(told if told is not None else self.posterior_from_even_odds or 0.0)

    @property
    def renamed(self) -> "Promise":
        """The same promise by the names of now."""
        names = {"right_guess_from_even_odds": self.right_guess, "posterior_from_even_odds": None}
        return self.model_copy(update=names)

    @property
    def formal(self) -> bool:
        """Whether the loss has a bound, so that something is promised at all."""
        return "unbounded" not in self.loss

    @property
    def only_near(self) -> bool:
        """Whether only what is near to the truth looks like it, as near as the words say, and not whatever else."""
        # Releases of square-root neighbours did not say so when there were no others of this sort.
        return self.near or self.hidden.get("neighbours") == "square-root-within"
