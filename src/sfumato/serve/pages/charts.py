"""Charts: the kinds that suit a table, the one that is drawn unless another is asked for, and what lines are of."""

from sfumato.serve.pages.layout import Layout


def charts_of(layout: Layout) -> tuple[str, ...]:
    """The charts that make sense: lines where the series has several periods for them to run along."""
    several = len(layout.sheet.timeline.periods) > 1
    summed = layout.sheet.product.subject.additive
    lines = several and summed and not layout.look.change and line_names(layout) is not None
    return ("dot", "bar", *(("line",) if lines else ()))


def chart_of(layout: Layout) -> str:
    """The chart that is drawn: the one that is asked for, else lines where several periods are laid out, else dots."""
    if layout.look.chart or not layout.timed:
        return layout.look.chart or "dot"
    several = len(layout.question.shown[layout.sheet.time]) > 1
    return "line" if several and "line" in charts_of(layout) else "dot"


def line_names(layout: Layout) -> tuple[str, ...] | None:
    """The variable that lines are of, one a level: the rows, or what stands beside periods that are rows; () for one.

    None where there are two of them, or each period has a table of its own.
    """
    time = layout.sheet.time
    if time and time == layout.wrap:
        return None
    names = layout.rows
    if time and time in names:
        names = tuple(name for name in (*names, layout.column) if name and name != time)
    return names if len(names) < 2 else None
