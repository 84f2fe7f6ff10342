"""Notebook: a table as HTML, its cells marked as on the page."""

from html import escape

from sfumato.foreign_text import capitalized, joined, marked
from sfumato.query.answer import Answer
from sfumato.query.cell_look import STYLE, smear_of
from sfumato.query.change import Change
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import Figures
from sfumato.query.layout import ENGLISH, as_seen, in_percent, laid_out, signed
from sfumato.query.wording import Words, words
from sfumato.release import NoNumber


def as_html(table: Figures) -> str:
    """The table as HTML, the cells marked as on the page, and below it why cells hold no number."""
    (heads, rows), said = laid_out(table), words(table.language)
    head = "".join(f'<th scope="col">{marked(one)}</th>' for one in heads)
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{marked(label)}</th>' for label in labels)
        + "".join(cell_html(one, said) for one in figures)
        + "</tr>"
        for labels, figures in rows
    )
    notes = [*(f"{one.code} " + one.reason for one in table.missing), *Answer(table).unsaid, *Answer(table).remarks]
    periods = ", ".join(dict.fromkeys(one.manifest.period for one in table.releases if one.manifest.period))
    counted = joined(". ", [joined(", ", filter(None, (capitalized(table.unit), periods))), said("text.is_moe90")])
    legend = "".join(f"<p>{marked(one)}</p>" for one in (counted + ".", *notes))
    found = table.headline()
    headed = f"<strong>{marked(found.said(said))}</strong><br>" if found else ""
    caption = f"<caption>{headed}{marked(table.title)}</caption>"
    laid = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="sfumato"{_tongue(table)}><style>{STYLE}</style>{laid}{legend}</div>'


def _tongue(table: Figures) -> str:
    """The language of a table, where it is not that of most notebooks."""
    return f' lang="{table.language}"' if table.language != ENGLISH.code else ""


def cell_html(one: Figure, said: Words = ENGLISH) -> str:
    """The number, its margin, its grade; a reader who cannot see it hears one sentence."""
    value, margin = as_seen(one, said)
    if isinstance(one, NoNumber) or not margin:
        spoken = one.reason if isinstance(one, NoNumber) else said("text.no_such")
        return f'<td class="g-" aria-label="{escape(spoken)}"><span class="n">{escape(value)}</span></td>'
    if isinstance(one, Change):
        return _change_html(one, signed(value, one), margin, said)
    spoken = said("text.spoken", value=value, unit=one.unit, margin=margin, grade=one.grade)
    return (
        f'<td class="g{escape(one.grade)}" aria-label="{escape(spoken)}">'
        f'<span class="n">{value}</span> <span class="moe">± {margin}</span> '
        f'<span class="grade">{escape(one.grade)}</span>{_smear(one)}</td>'
    )


def _change_html(one: Change, value: str, margin: str, said: Words) -> str:
    """The change, its margin, the percentage and the verdict; a reader who cannot see it hears the sentence."""
    verdict = one.verdict()
    return (
        f'<td class="v-{verdict}" aria-label="{escape(one.sentence().said(said))}"><span class="n">{value}</span> '
        f'<span class="moe">± {margin}{in_percent(one, said)}</span> '
        f'<span class="verdict">{said(f"text.{verdict}")}</span>{_smear(one)}</td>'
    )


def _smear(one: Estimate) -> str:
    width = smear_of(one)
    return f'<span class="smear w{width}"></span>' if width else ""
