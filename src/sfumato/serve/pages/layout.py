"""Layout: a table as its page lays it out, read from the address of the page and written back to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from sfumato.errors import QueryError
from sfumato.schema import Attribute
from sfumato.serve.catalogue import Sheet
from sfumato.serve.question import Codes, Pairs, Parameters, Question, code_list, shown_codes, universe_codes

ERRORS = {
    "moe90": "± 90% margin of error",
    "se": "Standard error",
    "cv": "CV (relative error)",
    "interval95": "95% interval",
}
_FEW_COLUMNS = 8
_PLAIN = ("rows", "cols", "error")
_OF_VARIABLE = ("codelist", "sum")


@dataclass(frozen=True)
class Layout:
    """Rows, columns, the level of each variable, the universe, and how the error is shown."""

    sheet: Sheet
    rows: tuple[str, ...]
    column: str | None
    lists: Mapping[str, str]
    within: Codes
    error: str = "moe90"

    @classmethod
    def first(cls, sheet: Sheet) -> "Layout":
        """What a reader sees first: the first variable by the first other one with few enough levels to stand above."""
        first, *others = sheet.product.attributes
        column = next((one.name for one in others if _width(one) <= _FEW_COLUMNS), None)
        return cls(sheet, (first.name,), column, {}, {})

    @classmethod
    def read(cls, sheet: Sheet, pairs: Pairs) -> "Layout":
        """The layout that an address means; a parameter that is none of the page's, as mailers add, is no matter."""
        known = [(key, value) for key, value in pairs if value and key.partition("[")[0] in {*_PLAIN, *_OF_VARIABLE}]
        given = Parameters.read(known, _PLAIN, _OF_VARIABLE)
        start = cls.first(sheet)
        chosen = "rows" in given.plain
        rows = tuple(dict.fromkeys(given.plain["rows"])) if chosen else start.rows
        column = given.plain.get("cols", (None if chosen else start.column,))[-1]
        lists = {name: values[-1] for name, values in given.of_variable["codelist"].items()}
        for name in [*rows, *([column] if column else []), *lists]:
            sheet.attribute(name)
        if column in rows:
            raise QueryError(
                f"{sheet.attribute(str(column)).label} stands in the rows and in the columns; choose another."
            )
        within = universe_codes(sheet, given.of_variable["sum"])
        return cls(sheet, rows, column, lists, within, given.one("error", "moe90", list(ERRORS)))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that are laid out, the column last."""
        return (*self.rows, self.column) if self.column else self.rows

    def list_of(self, name: str) -> str:
        return self.lists.get(name, "level0")

    @property
    def question(self) -> Question:
        lists = {name: (self.list_of(name),) for name in self.names}
        return Question(self.sheet, shown_codes(self.sheet, {}, lists), self.within)

    def address(self) -> str:
        """The query string of this page."""
        pairs = [("rows", name) for name in self.rows]
        pairs += [("cols", self.column)] if self.column else []
        pairs += [(f"codelist[{name}]", self.list_of(name)) for name in self.names if self._deep(name)]
        return urlencode(pairs + self._universe() + [("error", self.error)], safe="[],")

    def data_address(self, written: str) -> str:
        """The query string of the same table as data."""
        pairs = [(f"codelist[{name}]", self.list_of(name)) for name in self.names]
        return urlencode([*pairs, *self._universe(), ("outputFormat", written)], safe="[],")

    def _universe(self) -> list[tuple[str, str]]:
        return [(f"sum[{name}]", code) for name, codes in self.within.items() for code in codes]

    def _deep(self, name: str) -> bool:
        return self.sheet.attribute(name).levels.depth > 0


def _width(attribute: Attribute) -> int:
    return len(code_list(attribute.levels, "level0"))
