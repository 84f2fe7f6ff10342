"""Figures: how a number is written for people, a margin beside it, and texts in columns."""

from collections.abc import Sequence


def number(value: float) -> str:
    """A number as people read it: whole ones with separators, small ones to three digits, a true minus sign.

    >>> number(-1234567), number(0.04567), number(12.5)
    ('−1,234,567', '0.0457', '12.5')
    """
    if value == round(value) or abs(value) >= 100:
        text = f"{round(value):,}"
    else:
        text = f"{value:.3g}" if abs(value) < 1 else f"{value:.1f}"
    return text.replace("-", "−")


def like(margin: float, value: float) -> str:
    """A margin to the precision of the number it belongs to: whole beside whole numbers, once it is 10 or more."""
    return number(round(margin)) if margin >= 10 and value == round(value) else number(margin)


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Texts in columns that line up, the last ones, which are numbers, on the right.

    >>> print(aligned(["a", "bb"], [["1", "2"]], numbers=1))
    a  bb
    1   2
    """
    lines = [heads, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    turns = [str.ljust] * (len(heads) - numbers) + [str.rjust] * numbers
    laid = ([turn(one, width) for turn, one, width in zip(turns, line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in laid)
