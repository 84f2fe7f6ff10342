"""The shapes of the API's questions and answers, after PxWebApi 2, so that clients written for it work."""

from typing import Annotated, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, FailFast, Field
from pydantic.alias_generators import to_camel

from sfumato.release import ExposureLine, Promise, SpendLine

Item = TypeVar("Item")


class _AtFirstFault(FailFast):
    """The same with a hash, which a type that may also be None needs of what annotates it."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


Many = Annotated[list[Item], _AtFirstFault()]
"""A list that a reader sends: reading stops at its first fault, as a body has room for a hundred thousand of them."""


class Shape(BaseModel):
    """An answer whose names are written as PxWebApi writes them: firstPeriod, not first_period."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")

    def to_bytes(self) -> bytes:
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


class Link(Shape):
    rel: str
    hreflang: str = "en"
    href: str


class PathElement(Shape):
    """A folder that a table is in: the release."""

    id: str
    label: str


class TableEntry(Shape):
    """One table: a product that answers questions."""

    type: Literal["Table"] = "Table"
    id: str
    label: str
    description: str
    updated: str
    first_period: str
    last_period: str
    category: Literal["internal", "public"]
    variable_names: list[str]
    discontinued: bool
    source: str
    paths: list[list[PathElement]]
    links: list[Link]


class TableResponse(TableEntry):
    language: str = "en"


class PageInfo(Shape):
    page_number: int
    page_size: int
    total_elements: int
    total_pages: int


class TablesResponse(Shape):
    language: str = "en"
    tables: list[TableEntry]
    page: PageInfo
    links: list[Link]


class ValueMap(Shape):
    """A code of a list, and the lowest codes that it stands for."""

    code: str
    label: str
    value_map: list[str]


class CodelistResponse(Shape):
    id: str
    label: str
    language: str
    languages: list[str]
    elimination: bool
    type: Literal["Aggregation", "Valueset"]
    values: list[ValueMap]
    links: list[Link]


class VariableSelection(Shape):
    """What is shown of one variable: codes or expressions of a code list, and groups as `Name:code,code`."""

    variable_code: str = Field(max_length=200)
    codelist: str | None = Field(
        None, max_length=500, validation_alias=AliasChoices("codelist", "codeList"), serialization_alias="codelist"
    )
    value_codes: Many[str] | None = None
    values: object = Field(None, exclude=True)
    """The document of PxWebApi 2 requires it and says nothing of it; `valueCodes` is what is meant and read."""
    groups: Many[str] = []
    output_values: Literal["aggregated", "single"] | None = None


class VariablePlacement(Shape):
    """Which variables stand above the table and which at its side, in formats that have a layout."""

    heading: Many[str] = []
    stub: Many[str] = []


class VariablesSelection(Shape):
    """A whole question: what is shown of each variable, where it is placed, the universe, and how numbers are given."""

    selection: Many[VariableSelection]
    placement: VariablePlacement | None = None
    sum: dict[str, Many[str]] = {}
    share: str = Field(default="", max_length=500)
    sort: str = Field(default="", max_length=500)
    order: Literal["falling", "rising"] = "falling"
    error: Literal["moe90", "se", "cv", "interval95"] = "moe90"
    change: str = Field(default="", max_length=2000)
    per: str = Field(default="", max_length=500)


class SavedQuery(Shape):
    """A question with the table it is put to; saved, it also names the very release that answered then."""

    id: str | None = None
    table_id: str = Field(max_length=500)
    selection: VariablesSelection
    language: str = "en"
    output_format: str = "json-stat2"
    output_format_params: Many[str] = []
    saved_from: str | None = Field(None, max_length=500)


class SelectionResponse(VariablesSelection):
    """A question with every code written out: what is shown of each variable, nothing of one that is summed over."""

    language: str
    links: list[Link]


class SavedQueryResponse(Shape):
    """A saved query as it was written, and what of it can no longer be answered."""

    language: str
    id: str
    saved_query: SavedQuery
    problems: list[str]
    links: list[Link]


class GeoJson(Shape):
    """An area as GeoJSON: a Polygon or MultiPolygon, alone, a Feature or in collections; what else it has is left."""

    model_config = ConfigDict(extra="allow")

    type: Literal["Polygon", "MultiPolygon", "GeometryCollection", "Feature", "FeatureCollection"]


class AreaResponse(Shape):
    """The codes inside an area that was sent and those that its border cuts; `drawn` asks for their numbers."""

    language: str
    variable: str
    inside: list[str]
    cut: list[str]
    drawn: str
    links: list[Link]


class Language(Shape):
    id: str
    label: str


class KeyValue(Shape):
    key: str
    value: str


class Feature(Shape):
    id: str
    params: list[KeyValue]


class ConfigResponse(Shape):
    """What the API can do and how much it gives at once."""

    api_version: str = "2.0"
    app_version: str
    languages: list[Language]
    default_language: str = "en"
    max_data_cells: int
    max_calls_per_time_window: int = 1_000_000
    time_window: int = 1
    license: str = "As stated by the publisher of each release"
    default_data_format: str = "json-stat2"
    data_formats: list[str]
    features: list[Feature]


class PrivacyResponse(Shape):
    """What a release promises, what each measure cost, and what lies outside the promise."""

    key: str
    release: str
    title: str
    period: str
    releasable: bool
    why: str
    notices: list[str]
    promise: Promise
    spends: list[SpendLine]
    exposures: list[ExposureLine]
    citation: str


class FileAt(Shape):
    """A file of a release, and where it lies for good."""

    name: str
    bytes: int
    sha256: str
    href: str


class FilesResponse(Shape):
    """The files of a release, and what is to be said of it before any of them is used."""

    key: str
    release: str
    notices: list[str]
    files: list[FileAt]


class ProblemDetails(Shape):
    """What was asked, why not, what would work."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class Health(Shape):
    status: str = "ok"


class Version(Shape):
    sfumato: str
    api: str = "2.0"
    releases: list[str]
