"""Look: how a table is shown, which changes no number: its error, order and picture, and the cell in detail."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from sfumato.errors import QueryError
from sfumato.query.wording import Words, languages, words
from sfumato.schema.languages import OWN
from sfumato.serve.address_parameters import Parameters
from sfumato.serve.presentation import KINDS, ORDERS
from sfumato.serve.presentation import SHARES as OF

ERRORS = KINDS
SHARES = ("", *OF)
VIEWS = ("table", "chart", "map")
CHARTS = ("dot", "bar", "line")
SWITCH = ("", "on")
LONGEST = 20_000
"""The longest text that an address may carry: a reader's own numbers for a map."""
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "error": ERRORS,
    "share": SHARES,
    "order": ORDERS,
    "zero": SWITCH,
    "noise": SWITCH,
    "view": VIEWS,
    "chart": ("", *CHARTS),
    "map": ("", "areas", "dots"),
}


@dataclass(frozen=True)
class Look:
    """One field a parameter of the address; the first choice of each is what a reader sees first."""

    error: str = "moe90"
    share: str = ""
    sort: str = ""
    order: str = "falling"
    zero: str = ""
    noise: str = ""
    view: str = "table"
    chart: str = ""
    """The kind of chart; '' for the one that suits the table."""
    map: str = ""
    of: str = ""
    own: str = ""
    line: tuple[str, ...] = ()
    """The rows that lines are drawn of; the first ones unless some are named."""
    cell: str = ""
    hold: str = ""
    lang: str = ""
    """The language as the address says it; '' where it says none, and what is meant then is English."""
    change: str = ""
    """What changes are counted from: "last", "year", a period or a release; '' for numbers as they are."""
    per: str = ""
    """The statistic that the numbers are divided by, as in means; '' for numbers as they are."""

    @classmethod
    def read(cls, given: Parameters) -> "Look":
        choices = {**_CHOICES, "lang": ("", *languages())}
        free = {name: given.plain[name][-1] for name in NAMES if name in given.plain and name not in {*choices, "line"}}
        if len(free.get("own", "")) > LONGEST:
            raise QueryError(
                f"The numbers for the map have {len(free['own']):,} characters; an address carries {LONGEST:,}: "
                "leave out digits, or areas."
            )
        chosen = {name: given.one(name, getattr(cls, name), known) for name, known in choices.items()}
        return cls(**free, **chosen, line=given.plain.get("line", ()))

    @property
    def language(self) -> str:
        return self.lang or OWN

    @property
    def words(self) -> Words:
        return words(self.language, "sfumato.serve")

    def pairs(self) -> list[tuple[str, str]]:
        """What differs from the first look, as it stands in an address."""
        shown = [(name, getattr(self, name)) for name in NAMES if name != "line"]
        told = [(name, value) for name, value in shown if value != getattr(Look, name)]
        return [*told, *(("line", code) for code in self.line)]

    def but(self, **changes: str) -> "Look":
        return replace(self, **changes)  # type: ignore[arg-type]


NAMES = tuple(field.name for field in fields(Look))
