"""SamplingLine: what a manifest may say of the error that comes from having asked a sample."""

from typing import Literal, Self

from pydantic import Field, model_validator

from sfumato.release.promise import ManifestPart


class FunctionLine(ManifestPart):
    """A product's sampling variance as a x² + b x, and where a and b come from."""

    a: float
    b: float
    source: str = ""

    @model_validator(mode="after")
    def _refuse_below(self) -> Self:
        # Releases made before could buy a variance of 0 or less, of weights below 1; it is withheld where it is asked.
        if self.b < 0 and not self.source.startswith("bought"):
            raise ValueError(f"b is {self.b}, so that shares would have variances below 0")
        return self


class SamplingLine(ManifestPart):
    """That all were asked, a variance function for each product or why it has none, or why none is stated."""

    kind: Literal["census", "variance-function", "withheld"]
    functions: dict[str, FunctionLine] = Field(default_factory=dict)
    refused: dict[str, str] = Field(default_factory=dict)
    reason: str = ""
