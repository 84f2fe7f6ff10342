"""Dots: a dot with its whisker a number."""

from collections.abc import Sequence

from sfumato.pictures.mark import Caption, Mark
from sfumato.pictures.picture import Picture
from sfumato.pictures.rows import rows_drawn, spread, unstated
from sfumato.pictures.svg import WIDTH, Scale, glyph


def dots(marks: Sequence[Mark], caption: Caption, width: float = WIDTH) -> Picture:
    """One row a label, in it a dot a series over its interval: full for grades A and B, hollow for C."""

    def draw(mark: Mark, series: int | None, scale: Scale, y: float) -> str:
        x, place = scale(mark.value), series or 0
        full, edge = ("ink", "rim") if series is None else (f"f{place}", f"k{place}")
        if not mark.stated:
            return glyph(place, x, y, f"hollow {edge} broken") + unstated(mark, scale, y, caption.words.withheld)
        kind = f"hollow {edge}" if mark.doubtful else full
        return spread(mark, scale, y, 15) + glyph(place, x, y, kind, 4)

    return rows_drawn(marks, caption, width, "dot", draw)
