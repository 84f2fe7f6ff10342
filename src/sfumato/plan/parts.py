"""The parts of a plan file: which keys there are, and what is said of a wrong one."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.errors import PlanError, nearest
from sfumato.plan.measure import Publish
from sfumato.privacy import Exposure
from sfumato.schema import Missing

Codes = str | list[str]


class WrittenNumber(Decimal):
    """A number as a plan writes it, in messages too."""

    def __repr__(self) -> str:
        return str(self)


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, arbitrary_types_allowed=True)


class TablePart(Part):
    on: str | None = None


class MethodPart(Part):
    method: str
    scale: int | Decimal | str | None = None
    rscales: list[int | Decimal | str] = []
    about: str = "estimate"
    fay: int | Decimal | str | None = None


class DataPart(Part):
    unit: str | None = None
    key: str | list[str] | None = None
    repeated_rows: bool = False
    weight: str | None = None
    weight_kind: str = ""
    weight_clip: tuple[int | Decimal | str, int | Decimal | str] | None = None
    weight_step: int | Decimal | str = 1
    replicates: int | str | list[str] = []
    method: str | MethodPart | None = None
    order: str | None = None
    encoding: str | None = None
    synthetic: str = ""
    tables: dict[str, TablePart] = {}

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns that together name a row; none where the plan has no key, and at least one where it has."""
        if self.key is None:
            return ()
        columns = (self.key,) if isinstance(self.key, str) else tuple(self.key)
        if not columns or not all(columns):
            raise PlanError(
                f"[data] key is {json.dumps(self.key)}, which names no column, so that it would keep no row from "
                'standing twice; name the columns that together name a row, as key = ["person_id", "year"], or leave '
                "key out."
            )
        return columns


class AttributePart(Part):
    levels: str | list[str | int | dict[str, Any]] | None = None
    of: str = "unit"
    label: str = ""
    column: str | None = Field(None, alias="from")
    bands: list[int | Decimal | str] | None = None
    recode: dict[str, str] | None = None
    missing: str | Missing | None = None
    synonyms: str | list[dict[str, Any]] | None = None


class FamilyPart(Part):
    up_to: Any  # what is no number is refused in words where it is read
    of: list[str]
    also: list[list[str]] = []


class MeasurePart(Part):
    name: str
    of: str | dict[str, Any]
    by: list[str] | FamilyPart = []
    with_: dict[str, Any] = Field(alias="with")
    where: dict[str, Codes] = {}
    title: str = ""
    given: list[str] = []


class SharedPart(Part):
    step: int | Decimal | str
    variances: list[float]
    even: bool


class ControlPart(Part):
    name: str
    of: str
    by: list[str]
    source: str | None = Field(None, alias="from")
    file: str | None = None
    release: str | None = None
    product: str | None = None
    totals: list[dict[str, Any]] | None = None
    shared: SharedPart | None = None
    released: bool = False


class VarianceFunctionPart(Part):
    of: str
    a: int | Decimal | str | None = None
    b: int | Decimal | str | None = None
    source: str = ""
    outside: bool = False
    squares: str | None = None
    weights: str | None = None
    deff: int | Decimal | str = 1
    certain: int | Decimal | str = 0


class GeographyPart(Part):
    file: str
    id: str
    projection: str = ""
    detail: int = 2000
    partial: bool = False
    source: str = ""


class SuppressedPart(Part):
    name: str
    of: str | dict[str, Any]
    where: dict[str, Codes] = {}
    title: str = ""


class RulesPart(Part):
    minimum: int = 3
    p: int | Decimal | str | None = None
    dominance: list[dict[str, Any]] = []
    margin: int | Decimal | str | None = None
    safe: dict[str, str] = {}
    waived: list[str] = []
    forced: list[dict[str, str]] = []
    cost: str = "value"
    contributors: bool = True


class SuppressPart(RulesPart):
    by: list[list[str]]
    measure: list[SuppressedPart]
    holding: str | None = None
    inside: str = ""
    weight_step: int | Decimal | str = "0.01"


class FramePart(Part):
    file: str
    id: str


class LanguagePart(Part):
    title: str = ""
    labels: dict[str, str] = {}
    titles: dict[str, str] = {}
    units: dict[str, str] = {}
    sentences: dict[str, str] = {}
    levels: dict[str, dict[str, str]] = {}
    notes: dict[str, dict[str, str]] = {}
    synonyms: dict[str, dict[str, str | list[str]]] = {}


class PlanPart(Part):
    name: str
    title: str = ""
    language: str = ""
    languages: dict[str, LanguagePart] = {}
    period: str = ""
    sampling: str | list[VarianceFunctionPart] | None = None
    data: DataPart = DataPart()
    attributes: dict[str, AttributePart]
    impossible: list[dict[str, Codes]] = []
    hidden: dict[str, Any]
    limit: dict[str, Any]
    measure: list[MeasurePart] = []
    control: list[ControlPart] = []
    then: list[dict[str, Any]] = []
    suppress: SuppressPart | None = None
    publish: Publish = Publish()
    geography: dict[str, GeographyPart] = {}
    frame: FramePart | None = None
    exposure: list[Exposure] = []


UNKNOWN = {"extra_forbidden", "unexpected_keyword_argument"}
"""What a key that is not there is called, in a part and in a noun of the plan."""


def in_words(error: ValidationError) -> str:
    """The first thing wrong: the key, and the nearest valid one."""
    wrong = min(error.errors(), key=lambda one: one["type"] not in UNKNOWN)
    place = [
        str(part)
        for part in wrong["loc"]
        if part not in {"str", "list", "Missing", "MethodPart", "FamilyPart", "list[str]"}
    ]
    if wrong["type"] in UNKNOWN:
        return f"{_section(place[:-1])} has no key '{place[-1]}'; {nearest(place[-1], _keys(place[:-1]))}"
    if wrong["type"] == "missing":
        return f"{_section(place[:-1])} lacks '{place[-1]}'; add it."
    if place[:1] == ["geography"] and wrong["type"] == "model_type":
        return "[geography] holds a table for each attribute: write [geography.state] above file and id."
    return f"{_section(place)}: {wrong['msg']}."


def _section(place: list[str]) -> str:
    return f"[{'.'.join(place)}]" if place else "the plan"


_WITHIN: Mapping[tuple[str, str], Any] = {
    ("data", "tables"): TablePart,
    ("data", "method"): MethodPart,
    ("suppress", "measure"): SuppressedPart,
}
"""What sections are made of whose parts have keys of their own."""


def _keys(place: list[str]) -> list[str]:
    """The keys of a section, those of the plan where it has none of its own."""
    if place[:1] == ["attributes"] and place[2:] == ["missing"]:
        return _named(Missing)
    if tuple(place[:2]) in _WITHIN:
        return _named(_WITHIN[place[0], place[1]])
    if place[:1] == ["measure"] and place[2:] == ["by"]:
        return _named(FamilyPart)
    kinds = _kinds(PlanPart.model_fields[place[0]].annotation) if place else []
    return next((keys for keys in map(_named, kinds) if keys), _named(PlanPart))


def _kinds(annotation: Any) -> list[Any]:
    """The types that an annotation is made of."""
    return [one for part in get_args(annotation) for one in _kinds(part)] or [annotation]


def _named(kind: Any) -> list[str]:
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return [field.alias or name for name, field in getattr(kind, "model_fields", {}).items()]
