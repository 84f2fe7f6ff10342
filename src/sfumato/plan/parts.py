"""The parts of a plan file: which keys there are, and what is said of a wrong one."""

from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.errors import nearest

Codes = str | list[str]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, arbitrary_types_allowed=True)


class TablePart(Part):
    on: str | None = None


class DataPart(Part):
    unit: str | None = None
    key: str | None = None
    repeated_rows: bool = False
    weight: str | None = None
    replicates: int | str | list[str] = []
    order: str | None = None
    tables: dict[str, TablePart] = {}


class MissingPart(Part):
    level: str
    codes: list[str] = []


class AttributePart(Part):
    levels: str | list[str | int | dict[str, Any]] | None = None
    of: str = "unit"
    label: str = ""
    column: str | None = Field(None, alias="from")
    bands: list[int | Decimal | str] | None = None
    recode: dict[str, str] | None = None
    missing: str | MissingPart | None = None


class MeasurePart(Part):
    name: str
    of: str | dict[str, Any]
    by: list[str] = []
    with_: dict[str, Any] = Field(alias="with")
    where: dict[str, Codes] = {}
    title: str = ""
    given: list[str] = []


class ControlPart(Part):
    name: str
    of: str
    by: list[str]
    source: str | None = Field(None, alias="from")
    file: str | None = None
    totals: list[dict[str, Any]] | None = None


class PublishPart(Part):
    grades: dict[str, float] = {"A": 0.15, "B": 0.30}
    answers: list[str] = []
    least: int = 3
    largest_cv: float = 0.30


class ExposurePart(Part):
    kind: str
    what: str
    why: str


class VarianceFunctionPart(Part):
    of: str
    a: int | Decimal | str | None = None
    b: int | Decimal | str | None = None
    source: str = ""
    outside: bool = False
    squares: str | None = None
    weights: str | None = None
    deff: int | Decimal | str = 1


class GeographyPart(Part):
    file: str
    id: str
    projection: str = ""
    detail: int = 2000
    partial: bool = False
    source: str = ""


class FramePart(Part):
    file: str
    id: str


class PlanPart(Part):
    name: str
    title: str = ""
    period: str = ""
    sampling: str | list[VarianceFunctionPart] | None = None
    data: DataPart = DataPart()
    attributes: dict[str, AttributePart]
    impossible: list[dict[str, Codes]] = []
    hidden: dict[str, Any]
    limit: dict[str, Any]
    measure: list[MeasurePart]
    control: list[ControlPart] = []
    then: list[dict[str, Any]] = []
    publish: PublishPart = PublishPart()
    geography: dict[str, GeographyPart] = {}
    frame: FramePart | None = None
    exposure: list[ExposurePart] = []


def in_words(error: ValidationError) -> str:
    """The first thing wrong: the key, and the nearest valid one."""
    one = min(error.errors(), key=lambda wrong: wrong["type"] != "extra_forbidden")
    place = [str(part) for part in one["loc"] if part not in {"str", "list", "MissingPart"}]
    if one["type"] == "extra_forbidden":
        return f"{_section(place[:-1])} has no key '{place[-1]}'; {nearest(place[-1], _keys(place[:-1]))}"
    if one["type"] == "missing":
        return f"{_section(place[:-1])} lacks '{place[-1]}'; add it."
    if place[:1] == ["geography"] and one["type"] == "model_type":
        return "[geography] holds a table for each attribute: write [geography.state] above file and id."
    return f"{_section(place)}: {one['msg']}."


def _section(place: list[str]) -> str:
    return f"[{'.'.join(place)}]" if place else "the plan"


def _keys(place: list[str]) -> list[str]:
    models: dict[str, type[Part]] = {
        "data": DataPart,
        "attributes": AttributePart,
        "measure": MeasurePart,
        "publish": PublishPart,
        "geography": GeographyPart,
        "frame": FramePart,
        "exposure": ExposurePart,
        "control": ControlPart,
        "sampling": VarianceFunctionPart,
    }
    model = models.get(place[0], PlanPart) if place else PlanPart
    model = MissingPart if place[:1] == ["attributes"] and place[2:] == ["missing"] else model
    return [field.alias or name for name, field in model.model_fields.items()]
