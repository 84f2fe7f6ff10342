"""Bars: a bar from zero with its whisker a number."""

from collections.abc import Sequence

from sfumato.pictures.mark import Caption, Mark
from sfumato.pictures.picture import Picture
from sfumato.pictures.rows import rows_drawn, spread, unstated
from sfumato.pictures.svg import WIDTH, Scale, bar


def bars(marks: Sequence[Mark], caption: Caption, width: float = WIDTH) -> Picture:
    """One row a label, in it a bar a series; negative numbers reach to the left of zero, grade C is hollow."""

    def draw(mark: Mark, series: int | None, scale: Scale, y: float) -> str:
        ends = sorted((scale(0), scale(mark.value)))
        full, edge = ("column", "outline") if series is None else (f"f{series}", f"k{series}")
        kind = f"hollow {edge}" if mark.doubtful or not mark.stated else full
        drawn = bar(ends[0], y - 7, max(ends[1] - ends[0], 1), 14, kind if mark.stated else f"{kind} broken")
        if not mark.stated:
            return drawn + unstated(mark, scale, y, caption.words.withheld, 6)
        return drawn + spread(mark, scale, y, 10, over=series is not None)

    return rows_drawn(marks, caption, width, "bar", draw)
