"""Files of cells as options name them: what they are, which columns classify cells, and what each is refused for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import DataError, nearest

if TYPE_CHECKING:
    from sfumato.suppression.formats.table_file import TableFile

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="The table: CSV or Parquet, QCEW, or a tau-ARGUS .tab with its .rda."),
]
By = Annotated[str, typer.Option("--by", help="The columns that classify cells: ACTIVITY,SIZE; of a tidy table.")]
Value = Annotated[str, typer.Option("--value", help="The column of values; of QCEW month3_emplvl unless named.")]
Flag = Annotated[
    str, typer.Option("--flag", help="The column that says which cells are suppressed; else empty values are.")
]
Hidden = Annotated[str, typer.Option("--hidden", help="The flags of suppressed cells: A,B,D.")]
Trees = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        help="ACTIVITY=FILE: an .hrc file, or a CSV of code and parent; repeats, also for several of one attribute.",
    ),
]
Totals = Annotated[
    list[str] | None, typer.Option("--total", help="ACTIVITY=CODE: the code of its total, else Total; repeats.")
]
Known = Annotated[
    str,
    typer.Option("--known", help="LOW,HIGH: the columns of what everybody knows of cells beforehand; of a tidy table."),
]
Least = Annotated[
    float | None,
    typer.Option(
        help="What everybody knows a suppressed cell to have at least, as empty cells are published: 1 of whole "
        "numbers unless given; 0 where empty cells are suppressed too."
    ),
]
ARGUS = (".tab", ".asc")
ENDS = ("least", "most")
QCEW = ("area_fips", "own_code", "industry_code", "year", "qtr", "disclosure_code")


@dataclass(frozen=True)
class CellFiles:
    """Files of cells, and what their columns are."""

    files: list[Path]
    by: str = ""
    value: str = ""
    flag: str = ""
    hidden: str = ""
    hierarchy: list[str] | None = None
    total: list[str] | None = None
    known: str = ""

    @property
    def ends(self) -> tuple[str, ...]:
        """The columns of the least and the most that everybody knows a cell to be beforehand."""
        names = tuple(name.strip() for name in self.known.split(",")) if self.known else ()
        if names and (len(names) != len(ENDS) or not all(names)):
            raise DataError(
                f"--known {self.known} is not two columns; name that of the least and that of the most: LOW,HIGH."
            )
        return names

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.by.split(",") if name.strip())

    @property
    def argus(self) -> bool:
        return self.files[0].suffix.lower() in ARGUS

    @property
    def read_from(self) -> tuple[Path, ...]:
        """Every file that is read, and must not be written over."""
        beside = [file.with_suffix(".rda") for file in self.files if self.argus]
        return (*self.files, *beside, *(path for paths in self.trees.values() for path in paths))

    @property
    def trees(self) -> dict[str, list[Path]]:
        """The files of the hierarchies of each attribute."""
        found: dict[str, list[Path]] = {}
        for option in self.hierarchy or []:
            ((name, path),) = named_values([option], "--hierarchy").items()
            found.setdefault(name, []).append(Path(path))
        return found

    def read(self, numbers: tuple[str, ...] = ()) -> "TableFile":
        """The table by what its file is: tau-ARGUS by its ending, QCEW where no columns are named, else tidy."""
        from sfumato.suppression.formats.argus import read_argus
        from sfumato.suppression.formats.qcew import read_qcew

        numbers = (*numbers, *self.ends)
        if self.argus:
            self._refuse_unread("a tau-ARGUS table, whose .rda file says what its columns are", numbers)
            return read_argus(self.files[0])
        if not self.attributes:
            self._refuse_other()
            self._refuse_unread("QCEW, as --by names no columns", numbers, own=("--value",))
            return read_qcew(self.files[0], self.value or "month3_emplvl")
        return self._tidy(numbers)

    def _tidy(self, numbers: tuple[str, ...]) -> "TableFile":
        from sfumato.suppression.formats.tidy import Tidy

        if not self.value:
            raise DataError("A tidy table needs --value, the column of its values, beside --by.")
        codes = tuple(code.strip() for code in self.hidden.split(",")) if self.hidden else ()
        if codes and not self.flag:
            raise DataError("--hidden says which flags are those of suppressed cells, and --flag names no column.")
        trees, totals = self.trees, named_values(self.total, "--total")
        for option, names in (("--hierarchy", trees), ("--total", totals)):
            for name in names:
                if name not in self.attributes:
                    raise DataError(
                        f"{option} is of '{name}', by which no cell is classified; {nearest(name, self.attributes)}"
                    )
        return Tidy(self.attributes, self.value, self.flag, codes, trees, totals, numbers=numbers).read(self.files)

    def _refuse_unread(self, kind: str, numbers: tuple[str, ...], own: tuple[str, ...] = ()) -> None:
        """Options that a kind of file does not have are not passed over."""
        given = {"--by": self.by, "--value": self.value, "--flag": self.flag, "--hidden": self.hidden,
                 "--hierarchy": self.hierarchy, "--total": self.total, "--known": self.known,
                 "--count or --largest": numbers}  # fmt: skip
        for option, said in given.items():
            if said and option not in own:
                raise DataError(
                    f"{option} is for tidy tables, and {self.files[0]} is read as {kind}; leave it out, or write the "
                    "table as a tidy CSV and name its columns with --by."
                )
        if len(self.files) > 1:
            raise DataError(
                f"{len(self.files)} files were given, and {self.files[0]} is read as {kind}, which is one file; write "
                "linked tables as tidy CSV files and name their columns with --by."
            )

    def _refuse_other(self) -> None:
        """A file that is not QCEW needs its columns named."""
        from sfumato.suppression.formats.file_rows import columns_of

        heads = columns_of(self.files[0])
        missing = [name for name in QCEW if name not in heads]
        if missing:
            raise DataError(
                f"{self.files[0]} is to be read without --by, as QCEW files are, and has no column '{missing[0]}'; "
                "name the columns that classify its cells, and that of its values: --by TRADE,PLACE --value JOBS."
            )


def named_values(given: list[str] | None, option: str) -> dict[str, str]:
    """What was given as NAME=VALUE, each name once."""
    found: dict[str, str] = {}
    for one in given or []:
        name, equals, said = (part.strip() for part in one.partition("="))
        if not equals or not said or name in found:
            raise DataError(f"{option} {one} is not NAME=VALUE, or names '{name}' a second time; give each name once.")
        found[name] = said
    return found
