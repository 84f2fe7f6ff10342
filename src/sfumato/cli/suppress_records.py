"""The records behind a table of cells, as options of its audit name them, and what they show."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.cell_files import named_values
from sfumato.cli.suppress_rules import FEWEST, rules_of
from sfumato.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfumato.confidential.suppress import Contributions, PrimaryRules
    from sfumato.suppression import LinkedTables

Records = Annotated[
    Path | None,
    typer.Option(
        "--data", help="The records behind the table, CSV or Parquet: audit against everybody who is in them."
    ),
]
Fewest = Annotated[
    int | None, typer.Option("--minimum", help="With --data: the fewest contributors of a safe cell; 3 unless told.")
]
Of = Annotated[str, typer.Option("--of", help="With --data: the column of a record's value; else as --value.")]
Holding = Annotated[
    str, typer.Option(help="With --data: the column that names who a record belongs to; else each is its own.")
]
OfP = Annotated[str, typer.Option("--p", help="With --data: the p% rule: 0.1 for 10%.")]
OfDominance = Annotated[
    list[str] | None,
    typer.Option("--dominance", help="With --data: N,K: the N largest hold no more than K: 1,0.85; repeats."),
]
Weight = Annotated[str, typer.Option(help="With --data: the column of weights.")]
Waived = Annotated[str, typer.Option(help="With --data: holdings that have agreed: F007,F012.")]
Safe = Annotated[
    list[str] | None, typer.Option(help="With --data: TRADE=CODE: a code that stands for no answer; repeats.")
]


@dataclass(frozen=True)
class RecordFile:
    """A file of records, and what its columns are."""

    path: Path
    value: str
    holding: str = ""
    weight: str = ""
    waived: str = ""

    def contributions(self, linked: "LinkedTables") -> "Contributions":
        """What every holding adds to every cell of a table."""
        import numpy as np

        from sfumato.confidential.suppress import Contributions, refuse_unplaced
        from sfumato.suppression.formats.file_rows import column_of, number_of, read_rows

        rows = read_rows(self.path)
        if not self.value:
            raise DataError("The records need --of, the column of their values, as no --value is named.")
        codes = {name: column_of(rows, name, self.path) for name in linked.attributes}
        refuse_unplaced(linked, codes)
        holdings = column_of(rows, self.holding, self.path) if self.holding else None
        if holdings is not None and not all(holdings):
            raise DataError(f"A record has no '{self.holding}'; each belongs to somebody, so name whom.")
        weights = number_of(column_of(rows, self.weight, self.path), self.weight) if self.weight else np.ones(len(rows))
        values = number_of(column_of(rows, self.value, self.path), self.value)
        return Contributions.of(linked, codes, values, holdings, weights, self._agreed(holdings or []))

    def _agreed(self, holdings: "Sequence[str]") -> tuple[str, ...]:
        """The holdings that have agreed; one that no record belongs to is a slip of the pen."""
        names = tuple(name.strip() for name in self.waived.split(",") if name.strip())
        unknown = next((name for name in names if name not in holdings), None)
        if unknown is not None:
            told = nearest(unknown, sorted(set(holdings))) if holdings else "name their column with --holding."
            raise DataError(f"--waived names '{unknown}', to whom no record belongs; {told}")
        return names


def rules_by(
    linked: "LinkedTables", minimum: int | None, p: str, dominance: list[str] | None, safe: list[str] | None
) -> "PrimaryRules":
    """The rules, and the codes that stand for no answer, each of a classification of the table."""
    codes = [(name, code) for one in safe or [] for name, code in named_values([one], "--safe").items()]
    for name, code in codes:
        if name not in linked.attributes:
            raise DataError(
                f"--safe is of '{name}', by which no cell is classified; {nearest(name, linked.attributes)}"
            )
        known = linked.codes[linked.attributes.index(name)]
        if code not in known:
            told = nearest(code, [one for one in known if one])
            raise DataError(f"--safe names '{code}' of '{name}', a code of no cell; {told}")
    rules = rules_of(FEWEST if minimum is None else minimum, p, dominance, tuple(codes))
    if not rules.any:
        raise DataError(
            "No cell could break a rule: with --minimum 1 nobody is too few. Give --minimum 3, --p 0.1 or "
            "--dominance 1,0.85."
        )
    return rules


def refuse_without_records(**given: object) -> None:
    """Options that are of records are not passed over where there are none."""
    for name, said in given.items():
        if said:
            raise DataError(f"--{name} is about the records behind a table; give them with --data.")
