"""Budget: what each release took of a limit, and what is left."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.errors import QueryError
from sfumato.pictures.canvas import EDGE, Canvas
from sfumato.pictures.mark import Caption
from sfumato.pictures.picture import Picture
from sfumato.pictures.svg import WIDTH, Scale, bar, breadth, group, line, text, tick_words

TALL = 30


@dataclass(frozen=True)
class BudgetShare:
    """What one release took, in a measure that adds up (an epsilon, a rho, the square of a mu)."""

    label: str
    amount: float
    shown: str = ""
    seen: bool = True
    """Whether the release can be looked at here; a part that cannot is drawn pale."""


def budget(
    taken: Sequence[BudgetShare], limit: float, caption: Caption, left: str = "", width: float = WIDTH
) -> Picture:
    """One bar as long as the limit, a numbered part a release, what is left open, in the words of the account."""
    spent = sum(share.amount for share in taken)
    if any(share.amount < 0 for share in taken) or limit <= 0:
        raise QueryError("A budget is drawn of amounts of 0 or more and a limit above 0.")
    frame, words = Canvas(caption, width), caption.words
    top = frame.top + 26
    scale = Scale(0, max(spent, limit), EDGE, width - EDGE)
    parts, at = [], 0.0
    if spent < limit:
        parts.append(bar(scale(spent), top, scale(limit) - scale(spent), TALL, "left"))
        middle, room = (scale(spent) + scale(limit)) / 2, scale(limit) - scale(spent)
        said = left or words.left
        parts.append(text(middle, top + TALL / 2 + 4, said, "axis", "middle") if breadth(said, 11) < room else "")
    for place, share in enumerate(taken):
        parts.append(_part(share, place, (scale(at), scale(at + share.amount)), top))
        at += share.amount
    parts.append(line(scale(limit), top - 8, scale(limit), top + TALL + 8, "aim"))
    said = f"{words.limit} {caption.axis}".strip()
    parts.append(text(min(scale(limit), width - EDGE), top - 12, said, "axis", "end"))
    each = (
        f"{share.label}: {_amount(share)}, {caption.figure(f'{share.amount / limit:.0%}')} {words.limit}"
        for share in taken
    )
    told = (*each, f"{words.left}: {left or tick_words(limit - spent, percent=False)}")
    return Picture(caption.title, frame.closed(top + TALL, parts, told), told, in_words=words.in_words)


def _part(share: BudgetShare, place: int, ends: tuple[float, float], top: float) -> str:
    """A release's part of the bar, numbered, with a gap before the next."""
    start, end = ends
    ground, ink = ("noise", "over") if share.seen else ("unsplit", "axis")
    drawn = bar(start + 1, top, max(end - start - 2, 1), TALL, ground)
    number = text((start + end) / 2, top + TALL / 2 + 4, str(place + 1), ink, "middle") if end - start > 16 else ""
    return group(drawn, number, tip=f"{place + 1}. {share.label}: {_amount(share)}")


def _amount(share: BudgetShare) -> str:
    return share.shown or tick_words(share.amount, percent=False)
