"""The shapes of the API's answers, after PxWebApi 2, so that clients written for it work."""

from pydantic import BaseModel

from sfumato.release import ExposureLine, Promise, SpendLine


class Link(BaseModel):
    rel: str
    hreflang: str = "en"
    href: str


class TableEntry(BaseModel):
    """One table: a product that answers questions."""

    type: str = "Table"
    id: str
    label: str
    description: str
    updated: str
    firstPeriod: str
    lastPeriod: str
    category: str
    variableNames: list[str]
    discontinued: bool
    source: str
    links: list[Link]


class TableResponse(TableEntry):
    language: str = "en"


class PageInfo(BaseModel):
    pageNumber: int
    pageSize: int
    totalElements: int
    totalPages: int


class TablesResponse(BaseModel):
    language: str = "en"
    tables: list[TableEntry]
    page: PageInfo
    links: list[Link]


class Language(BaseModel):
    id: str
    label: str


class ConfigResponse(BaseModel):
    """What the API can do; it keeps no count of calls, so the window is as wide as the shape allows."""

    apiVersion: str = "2.0"
    appVersion: str
    languages: list[Language] = [Language(id="en", label="English")]
    defaultLanguage: str = "en"
    maxDataCells: int
    maxCallsPerTimeWindow: int = 1_000_000
    timeWindow: int = 1
    license: str = "As stated by the publisher of each release"
    defaultDataFormat: str = "json-stat2"
    dataFormats: list[str] = ["json-stat2", "csv"]


class PrivacyResponse(BaseModel):
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


class Problem(BaseModel):
    """What was asked, why not, what would work."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class Health(BaseModel):
    status: str = "ok"


class Version(BaseModel):
    sfumato: str
    api: str = "2.0"
    releases: list[str]
