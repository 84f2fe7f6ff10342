"""The shapes of a search's answer."""

from sfumato.serve.shapes import Link, Shape


class FoundFigure(Shape):
    """The number of a find in one table, where it has one, with its error."""

    table: str
    title: str
    unit: str
    estimate: float | None = None
    moe90: float | None = None
    grade: str | None = None
    caveat: str | None = None
    text: str | None = None
    links: list[Link]


class FoundEntry(Shape):
    """What words may mean: a table, held to some codes, with a variable along its rows."""

    label: str
    about: str
    release: str
    synonym: str | None = None
    table: str
    codes: dict[str, str]
    variable: str | None = None
    share: bool = False
    per: str | None = None
    said: str | None = None
    text: str | None = None
    notices: list[str]
    figures: list[FoundFigure]
    links: list[Link]


class SearchResponse(Shape):
    """All that was found, and the words that were looked for."""

    language: str = "en"
    asked: str
    meant: str
    mistyped: bool = False
    finds: list[FoundEntry]
