"""Rules as options give them: which cells are sensitive."""

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import DataError

if TYPE_CHECKING:
    from sfumato.confidential.suppress import PrimaryRules

FEWEST = 3
Minimum = Annotated[int, typer.Option(help="The fewest contributors of a safe cell.")]
P = Annotated[str, typer.Option("--p", help="The p% rule: 0.1 for 10%.")]
Dominance = Annotated[list[str] | None, typer.Option(help="N,K: the N largest hold no more than K: 1,0.85; repeats.")]


def rules_of(
    minimum: int, p: str, dominance: list[str] | None, safe: tuple[tuple[str, str], ...] = ()
) -> "PrimaryRules":
    from fractions import Fraction

    from sfumato.confidential.suppress import PrimaryRules

    try:
        shares = tuple((int(n), Fraction(k)) for n, _, k in (one.partition(",") for one in dominance or []))
        return PrimaryRules(minimum, Fraction(p) if p else None, shares, safe=safe)
    except (ValueError, ZeroDivisionError):
        raise DataError("--p is a share, 0.1 for 10%, and --dominance N,K: 1,0.85 for the largest above 85%.") from None
