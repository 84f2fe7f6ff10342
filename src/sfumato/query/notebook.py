"""Notebook: a table as HTML, its cells marked as on the page."""

from html import escape

from sfumato.foreign_text import capitalized, joined, marked
from sfumato.query.answer import Answer
from sfumato.query.cell_look import STYLE, smear_of
from sfumato.query.change import Change
from sfumato.query.digits import Digits, common_scale
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import Figures
from sfumato.query.layout import ENGLISH, as_seen, laid_out, percent_seen, signed
from sfumato.query.wording import Words, words
from sfumato.release import NoNumber


def as_html(table: Figures) -> str:
    """The table as HTML, the cells marked as on the page, and below it why cells hold no number."""
    (heads, rows), said = laid_out(table), words(table.language)
    numbers = [one for _, figures in rows for one in figures if isinstance(one, Estimate)]
    scale = common_scale(numbers)
    head = "".join(f'<th scope="col">{marked(one)}</th>' for one in heads)
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{marked(label)}</th>' for label in labels)
        + "".join(cell_html(one, said, scale) for one in figures)
        + "</tr>"
        for labels, figures in rows
    )
    units = [said("text.scales")] if any(Digits.seen(one, scale).scale for one in numbers) else []
    legend = "".join(f"<p>{marked(one)}</p>" for one in (joined(" ", [_counted(table, said), *units]), *_notes(table)))
    found = table.headline()
    headed = f"<strong>{marked(found.said(said))}</strong><br>" if found else ""
    caption = f"<caption>{headed}{marked(table.title)}</caption>"
    laid = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="sfumato"{_tongue(table)}><style>{STYLE}</style>{laid}{legend}</div>'


def _counted(table: Figures, said: Words) -> str:
    """What the numbers count, of when, and what stands beside each."""
    periods = ", ".join(dict.fromkeys(one.manifest.period for one in table.releases if one.manifest.period))
    counted = joined(", ", filter(None, (capitalized(table.unit), periods)))
    return joined(". ", [counted, said("text.is_moe90") + "."])


def _notes(table: Figures) -> tuple[str, ...]:
    """Why cells hold no number, what is not stated of errors, and what else is to be said."""
    missing = (f"{one.code} " + one.reason for one in table.missing)
    answer = Answer(table)
    return *filter(None, [answer.caveat]), *missing, *answer.unsaid, *answer.remarks


def _tongue(table: Figures) -> str:
    """The language of a table, where it is not that of most notebooks."""
    return f' lang="{table.language}"' if table.language != ENGLISH.code else ""


def cell_html(one: Figure, said: Words = ENGLISH, scale: int | None = None) -> str:
    """The number, its margin, its grade, counted as its table is; a reader who cannot see it hears one sentence."""
    value, margin = as_seen(one, said)
    if isinstance(one, NoNumber) or not margin:
        spoken = one.reason if isinstance(one, NoNumber) else said("text.no_such")
        return f'<td class="g-" aria-label="{escape(spoken)}"><span class="n">{escape(value)}</span></td>'
    spoken = said("text.spoken", value=value, unit=one.unit, margin=margin, grade=one.grade)
    value, margin = as_seen(one, said, Digits.seen(one, scale))
    if isinstance(one, Change):
        return _change_html(one, signed(value, one), margin, said)
    return (
        f'<td class="g{escape(one.grade)}" aria-label="{escape(spoken)}">'
        f'<span class="n">{value}</span> <span class="moe">± {margin}</span> '
        f'<span class="grade">{escape(one.grade)}</span>{_smear(one)}</td>'
    )


def _change_html(one: Change, value: str, margin: str, said: Words) -> str:
    """The change, its margin, the percentage and the verdict; a reader who cannot see it hears the sentence."""
    verdict, (percent, reach) = one.verdict(), percent_seen(one, said)
    relative = f" ({percent}{' ' if '±' in reach else ', ' if reach else ''}{reach})" if percent else ""
    return (
        f'<td class="v-{verdict}" aria-label="{escape(one.sentence().said(said))}"><span class="n">{value}</span> '
        f'<span class="moe">± {margin}{relative}</span> '
        f'<span class="verdict">{said(f"text.{verdict}")}</span>{_smear(one)}</td>'
    )


def _smear(one: Estimate) -> str:
    width = smear_of(one)
    return f'<span class="smear w{width}"></span>' if width else ""
