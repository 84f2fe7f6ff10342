"""Whole: the one number of a table over everything, and how it changed."""

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.query import Change, Figure
from sfumato.query.periods import LAST
from sfumato.release import NoNumber
from sfumato.schema import Where
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.cell import Cell, cell
from sfumato.serve.pages.look import Look
from sfumato.serve.question import Question


def total_view(sheet: Sheet, look: Look) -> Cell | None:
    """The one number over everything, where the table may be summed."""
    return cell(whole_of(sheet), look, scaled=False) if sheet.product.subject.additive else None


def change_view(sheet: Sheet, look: Look) -> tuple[str, str] | None:
    """How the one number over everything changed since the period before: the verdict, and what is said of it."""
    line = sheet.timeline
    if not (sheet.time and sheet.product.subject.additive and line.has_before(sheet, LAST)):
        return None
    try:
        change = Question(sheet, {}, {}, since=LAST).table([]).figure(0)
    except QueryError:  # the earlier release does not answer
        return None
    if not isinstance(change, Change):
        return None
    said = change.sentence().said(look.words), change.caveats.sentence(look.language)
    return change.verdict(), joined(" ", filter(None, said))


def whole_of(sheet: Sheet, where: Where | None = None) -> Figure:
    """The one number over everything, or over some levels; or why there is none."""
    try:
        return sheet.edition.engine.total(where, of=sheet.product.subject.name)
    except QueryError as error:
        return NoNumber(sheet.product.says(str(error)))
