"""Figures: how a number is written for people, and a margin beside it."""


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
