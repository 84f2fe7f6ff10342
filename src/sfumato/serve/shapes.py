"""The shapes of the API's answers, after PxWebApi 2, so that clients written for it work."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from sfumato.release import ExposureLine, Promise, SpendLine


class Shape(BaseModel):
    """An answer whose names are written as PxWebApi writes them: firstPeriod, not first_period."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    def to_bytes(self) -> bytes:
        return self.model_dump_json(by_alias=True).encode()


class Link(Shape):
    rel: str
    hreflang: str = "en"
    href: str


class TableEntry(Shape):
    """One table: a product that answers questions."""

    type: str = "Table"
    id: str
    label: str
    description: str
    updated: str
    first_period: str
    last_period: str
    category: str
    variable_names: list[str]
    discontinued: bool
    source: str
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


class Language(Shape):
    id: str
    label: str


class ConfigResponse(Shape):
    """What the API can do; it keeps no count of calls, so the window is as wide as the shape allows."""

    api_version: str = "2.0"
    app_version: str
    languages: list[Language] = [Language(id="en", label="English")]
    default_language: str = "en"
    max_data_cells: int
    max_calls_per_time_window: int = 1_000_000
    time_window: int = 1
    license: str = "As stated by the publisher of each release"
    default_data_format: str = "json-stat2"
    data_formats: list[str] = ["json-stat2", "csv"]


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


class Problem(Shape):
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
