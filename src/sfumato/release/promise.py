"""Promise: the guarantee as a manifest states it, in words and numbers."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class ManifestPart(BaseModel):
    """A part of a manifest: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Promise(ManifestPart):
    """The guarantee in words and numbers."""

    hidden: dict[str, Any]
    words: str
    loss: dict[str, str]
    limit: dict[str, str]
    loss_words: str
    power_at_5_percent: float
    right_guess_from_even_odds: float | None = None
    """The largest chance, from even odds, to say rightly which of two neighbours it was."""
    posterior_from_even_odds: float | None = None
    """The same in releases made before, which called it so."""
    posterior_above: dict[str, float] = Field(default_factory=dict)
    """How likely, from even odds, somebody becomes so sure of the truth, at most: {"90%": 0.0974}."""
    not_hidden: str = ""
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
