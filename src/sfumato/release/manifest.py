"""Manifest: what a release promises, what it cost, what lies outside, and the hash of every byte in it."""

import hashlib
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from sfumato.errors import ReleaseError
from sfumato.privacy.ledger import outside
from sfumato.release.anchor import Anchor
from sfumato.release.promise import Chance, LossTerms, ManifestPart, Promise
from sfumato.release.sampling_line import SamplingLine
from sfumato.release.translation import Translation
from sfumato.release.written import read_json
from sfumato.schema.languages import OWN

FORMAT = "sfumato-release/1"
SOUND, AS_PUBLISHED = MODES = ("sound", "as_published")
"""How a release was made: so that its claim holds for every byte, or as a paper did it though its claim then breaks."""
NAME, SIGNATURE, NOTICE = "manifest.json", "manifest.sig", "withdrawn.json"
CERTIFICATE, CERTIFICATE_SIGNATURE, CERTIFICATE_PAGE = "certificate.json", "certificate.sig", "certificate.html"
BESIDE = (NAME, SIGNATURE, NOTICE, CERTIFICATE, CERTIFICATE_SIGNATURE, CERTIFICATE_PAGE)
"""The files of a release that its manifest does not list: itself, its signature, that it was withdrawn, an audit."""
_LATER = {
    *("geographies", "largest_cv", "near", "noise", "not_hidden", "unbounded", "not_counted", "value_bounds"),
    *("posterior_above", "posterior_from_even_odds", "right_guess_from_even_odds"),
    *("ledger_id", "previous", "number", "sums", "year", "family", "account", "statuses", "implied", "synonyms"),
    *("made_of", "language", "languages", "synthetic", "weighting"),
}
"""Lines that older or newer releases do not have: left out where they are empty, so that all verify to the byte."""
ALARM, CURVE = 0.05, 41
"""How often the test of an example is wrong when nothing is there, and the most points that draw one of its curves."""

LARGEST_FILE = 2**36
"""The most bytes of one file, which is read whole to be verified."""
Amount = Annotated[float, Field(ge=0)]


class ExampleLine(ManifestPart):
    """Two true values, how often the best test tells them by what is published, and how likely that is of either.

    The test says the larger from `cut` on, and ALARM of the time where the smaller is true. A curve has what is
    published less what is true, rising, and how likely that is next to the likeliest; an empty one is as the first.
    """

    low: float
    high: float
    told_apart: Chance
    cut: float
    of_low: list[tuple[float, Chance]] = Field(max_length=CURVE)
    of_high: list[tuple[float, Chance]] = Field(default_factory=list, max_length=CURVE)


class NoiseLine(ManifestPart):
    """What the plan alone says of one measure's noise: the standard error of a number, or why none can be told.

    It is that of any number, of one of this size, or of a total whose largest value has it.
    """

    standard_error: Amount | None = None
    at: Literal["any", "size", "largest"] = "any"
    size: float | None = None
    why: str = ""
    example: ExampleLine | None = None


class SpendLine(ManifestPart):
    """What one measure cost, and what is known of its noise beforehand."""

    measure: str
    mechanism: str
    loss: LossTerms
    words: str
    noise: NoiseLine | None = None


class ExposureLine(ManifestPart):
    """Something outside the guarantee."""

    kind: str
    what: str
    why: str

    @property
    def sentences(self) -> str:
        return outside(self.what, self.why)


class AttributeLine(ManifestPart):
    """One attribute and the file of its levels."""

    name: str
    label: str
    of: str
    levels: str
    synonyms: str = ""


class ProductLine(ManifestPart):
    """One product: what it counts, over which attributes, in which file, with which error."""

    name: str
    kind: str = "cube"
    statistic: str
    title: str
    unit: str
    step: str
    additive: bool
    by: list[str]
    universe: dict[str, list[str]] = Field(default_factory=dict)
    impossible: list[dict[str, list[str]]] = Field(default_factory=list)
    mechanism: str
    note: str = ""
    value_bounds: dict[str, Any] = Field(default_factory=dict)
    weighting: Literal["", "weight", "weighted", "not weighted", "no weight"] = ""
    uncertainty: dict[str, Any]
    family: dict[str, Any] = Field(default_factory=dict)
    statuses: list[dict[str, str]] = Field(default_factory=list)
    made_of: list[str] = Field(default_factory=list)
    """The products that a step made it of, whose noise is in it; none where it was measured."""
    file: str
    answers: bool = True


class GeographyLine(ManifestPart):
    """The file of one attribute's shapes."""

    attribute: str
    file: str


class FileLine(ManifestPart):
    """The size and hash of one file."""

    bytes: int = Field(ge=0, le=LARGEST_FILE)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Manifest(ManifestPart):
    """Everything a reader must know, and what `verify` compares the folder with."""

    format: str = FORMAT
    name: str
    title: str
    period: str
    unit: str
    created: str
    software: str
    mode: str
    rehearsal: bool
    releasable: bool
    why: str
    supersedes: str | None = None
    promise: Promise
    spends: list[SpendLine]
    exposures: list[ExposureLine]
    ledger: Anchor | None
    sampling: dict[str, Any]
    grades: dict[str, float]
    largest_cv: Amount | None = None
    attributes: list[AttributeLine]
    products: list[ProductLine]
    geographies: list[GeographyLine] = Field(default_factory=list)
    diverged: dict[str, str] = Field(default_factory=dict)
    synthetic: str = ""
    """How the data were made up, where they are; '' where they are about the world, and in releases made before."""
    language: str = Field("", pattern="^([a-z]{2})?$")
    """The language of its texts; '' for English, as in releases made before."""
    languages: dict[Annotated[str, Field(pattern="^[a-z]{2}$")], Translation] = Field(default_factory=dict)
    """The same texts in further languages."""
    files: dict[str, FileLine]

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, files: dict[str, FileLine]) -> dict[str, FileLine]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name:
                raise ValueError(f"the file name {name!r} leads out of the release")
        return files

    @field_validator("grades")
    @classmethod
    def _rise(cls, grades: dict[str, float]) -> dict[str, float]:
        if set(grades) != {"A", "B"} or not 0 < grades["A"] < grades["B"]:
            raise ValueError("two CVs, A below B")
        return grades

    @field_validator("sampling")
    @classmethod
    def _stated(cls, sampling: dict[str, Any]) -> dict[str, Any]:
        SamplingLine.model_validate(sampling)
        return sampling

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must be told before any number, besides whether it may be published at all."""
        said = [] if self.promise.formal else [f"Not formally private, {self.promise.loss_words}."]
        return (*said, *(f"A step found no answer: {name}: {why}." for name, why in self.diverged.items()))

    @property
    def own_language(self) -> str:
        """The language that its texts are in."""
        return self.language or OWN

    def to_bytes(self) -> bytes:
        """The one way to write it: the same manifest, the same bytes."""
        content = _without_later(self.model_dump()) | {"promise": _without_later(self.promise.model_dump())}
        content["ledger"] = self.ledger and _without_later(self.ledger.model_dump())
        content["attributes"] = [_without_later(attribute.model_dump()) for attribute in self.attributes]
        content["products"] = [_without_later(product.model_dump()) for product in self.products]
        content["spends"] = [_without_later(spend.model_dump()) for spend in self.spends]
        return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, written: bytes) -> "Manifest":
        try:
            manifest = cls.model_validate(read_json(written))
        except (ValueError, ValidationError) as error:
            raise ReleaseError(f"{NAME} cannot be read as a manifest: {_first(error)}.") from None
        if manifest.format != FORMAT:
            raise ReleaseError(
                f"The release is of format '{manifest.format}', this version reads '{FORMAT}'; update Sfumato."
            )
        listed = [name for one in manifest.attributes for name in (one.levels, one.synonyms) if name]
        listed += [*(one.file for one in manifest.products), *(one.file for one in manifest.geographies)]
        for name in listed:
            if name not in manifest.files:
                raise ReleaseError(f"{NAME} reads {name!r}, which is not among the hashed files of the release.")
        _refuse_twice([one.name for one in manifest.products])
        _refuse_twice([one.name for one in manifest.attributes])
        return manifest


def _refuse_twice(names: list[str]) -> None:
    [(name, count)] = Counter(names).most_common(1) or [("", 0)]
    if count > 1:
        raise ReleaseError(f"{NAME} describes '{name}' twice; it is not one of ours.")


def _without_later(lines: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in lines.items() if value or key not in _LATER}


def _first(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        one = error.errors()[0]
        return f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}"
    return str(error)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def line(path: Path) -> FileLine:
    """The size and hash of a file, read in pieces."""
    running = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            running.update(piece)
    return FileLine(bytes=path.stat().st_size, sha256=running.hexdigest())


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
