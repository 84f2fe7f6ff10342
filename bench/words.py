"""Words: how the numbers of a line are written, in the terminal and on the page."""

from bench.line import Line


def number(value: float | bool | str | None) -> str:
    """A number to three digits; what is missing is a dash.

    >>> number(0.04651), number(12345.6), number(None), number(True), number(False)
    ('0.0465', '12,346', '-', 'yes', 'NO')
    """
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, str):
        return value
    return f"{value:,.3g}" if abs(value) < 1_000 else f"{value:,.0f}"


def ratio(line: Line) -> str:
    """Ours against theirs, in words.

    >>> ratio(Line("run", "CPU s", 0.1, "peer", 5.53)), ratio(Line("scan", "CPU s", 1.64, "limit", 1.0))
    ('55x less', '1.6x more')
    >>> ratio(Line("draws", "M/s", 400, "numpy", 25)), ratio(Line("start", "s", 1.2))
    ('16x more', '-')
    >>> ratio(Line("route", "req/s", 1.04, "limit", 1.0))
    'the same'
    """
    if not line.ratio:
        return "-"
    times, way = max(line.ratio, 1 / line.ratio), "more" if line.ratio > 1 else "less"
    if times < 1.05:
        return "the same"
    return f"{times:.1f}x {way}" if times < 10 else f"{times:,.0f}x {way}"


def goal(line: Line) -> str:
    """The goal and whether this run reached it.

    >>> from bench.line import Goal
    >>> goal(Line("run", "CPU s", 0.1, "peer", 5, goal=Goal(30)))
    '30x: reached'
    >>> goal(Line("scan", "CPU s", 2.1, "limit", 1, goal=Goal(2, within=True)))
    'within 2x: missed'
    """
    if not line.goal:
        return "-"
    said = {True: "reached", False: "missed", None: "not measured"}[line.reached]
    return f"{line.goal.words}: {said}"
