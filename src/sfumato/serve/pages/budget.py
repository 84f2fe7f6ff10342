"""The budget page: what each population may lose, what each release took of it, and what is left."""

from starlette.requests import Request
from starlette.responses import Response

from sfumato.pictures import BudgetShare, Caption, Picture, PictureWords
from sfumato.pictures import budget as bar
from sfumato.privacy import Approximate, Concentrated, Gaussian, Limit
from sfumato.query.wording import Words
from sfumato.serve.accounts import AccountLine, PublicAccount, accounts, amount, brief, uncharged
from sfumato.serve.pages.card import NARROW, widths
from sfumato.serve.pages.home import language
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import HTML, Pages
from sfumato.serve.reply import fresh, unchanged

WIDE = 760


def budget(pages: Pages, request: Request) -> Response:
    """The accounts of all populations that the served releases are about."""
    lang, tag = language(request), pages.tag(pages.catalogue.tag)
    held = unchanged(request, tag)
    if held:
        return held
    said, editions = Look(lang=lang).words, pages.catalogue.editions
    found = accounts(editions)
    bars = {id(one): widths(lambda wide, one=one: _bar(one, said, wide)) for one in found}  # type: ignore[misc]
    shown = {
        "accounts": [(one, bars[id(one)]) for one in found],
        "uncharged": uncharged(editions),
        "share": share,
        "unseen": unseen,
        "brief": brief,
    }
    return fresh(pages.page("budget.html", lang, **shown), HTML, tag)


def share(part: Limit, limit: Limit) -> int:
    """A part of the limit in percent, of what adds up."""
    return round(100 * amount(part) / amount(limit))


def unseen(entry: AccountLine) -> str:
    """What others took, in the currency of the account."""
    rest = entry.unseen
    if isinstance(entry.spent, Gaussian):
        return brief(Gaussian(squared=rest))
    return (Approximate(rest) if isinstance(entry.spent, Approximate) else Concentrated(rest)).words()


def _bar(account: PublicAccount, said: Words, wide: bool) -> Picture:
    taken = []
    for entry in account.entries:
        if entry.unseen:
            taken.append(BudgetShare(said("budget.unseen_short"), float(entry.unseen), unseen(entry), seen=False))
        manifest = entry.edition.release.manifest
        label = f"{manifest.title}{f', {manifest.period}' if manifest.period else ''}"
        taken.append(BudgetShare(label, float(entry.own), brief(entry.cost)))
    words = PictureWords(limit=said("budget.limit"), left=said("budget.left"), in_words=said("privacy.in_words"))
    left = said("budget.left_words", left=brief(account.left, left=True))
    caption = Caption(account.population, brief(account.limit), headed=False, words=words)
    return bar(taken, float(amount(account.limit)), caption, left, width=WIDE if wide else NARROW)
