"""The budget page: what each population may lose, what each release took of it, and what is left."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sfumato.pictures import BudgetShare, Caption, Picture, PictureWords
from sfumato.pictures import budget as bar
from sfumato.privacy import Loss
from sfumato.query.accounts import AccountLine, PublicAccount, amount, brief
from sfumato.query.wording import Words
from sfumato.release.translator import sentence_in
from sfumato.serve.accounts import accounts_of, uncharged
from sfumato.serve.pages.card import NARROW
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import Pages

WIDE = 760


def budget(pages: Pages, request: Request) -> Response:
    """The accounts of all populations that the served releases are about."""
    editions = pages.catalogue.editions
    known = {one.release.id: one for one in editions}
    shown = {"uncharged": uncharged(editions), "share": share, "editions": known}

    def show(look: Look) -> dict[str, Any]:
        bars = [(one, [_bar(one, look.words, width) for width in (WIDE, NARROW)]) for one in accounts_of(editions)]
        said = {"unseen": partial(unseen, look.language), "brief": partial(brief_in, look.language)}
        return {**shown, **said, "accounts": bars}

    return pages.reply(request, "budget.html", pages.catalogue.tag, show)


def share(part: Loss, limit: Loss) -> str:
    """A part of the limit in percent, of what adds up; only all of it is 100 and only none of it 0.

    >>> from sfumato.privacy import Approximate
    >>> share(Approximate("5.999"), Approximate(6)), share(Approximate(6), Approximate(6))
    ('> 99', '100')
    """
    percent = 100 * amount(part) / amount(limit)
    if round(percent) in {0, 100} and percent not in {0, 100}:
        return "< 1" if percent < 1 else "> 99" if percent < 100 else "> 100"
    return str(round(percent))


def brief_in(language: str, loss: Loss, *, left: bool = False) -> str:
    """A loss in few words of a language."""
    return sentence_in(language, brief(loss, left=left))


def unseen(language: str, entry: AccountLine) -> str:
    """What others took, in the currency of the account."""
    return brief_in(language, entry.left.of(entry.unseen))


def _bar(account: PublicAccount, said: Words, width: int) -> Picture:
    taken = []
    for entry in account.entries:
        if entry.unseen:
            taken.append(
                BudgetShare(said("budget.unseen_short"), float(entry.unseen), unseen(said.code, entry), seen=False)
            )
        manifest = entry.release.manifest
        label = manifest.title + (f", {manifest.period}" if manifest.period else "")
        taken.append(BudgetShare(label, float(entry.own), brief_in(said.code, entry.cost)))
    words = PictureWords(limit=said("budget.limit"), left=said("budget.left"), in_words=said("privacy.in_words"))
    left = said("budget.left_words", left=brief_in(said.code, account.left, left=True))
    caption = Caption(
        account.population, brief_in(said.code, account.limit), headed=False, words=words, figure=said.figure
    )
    return bar(taken, float(amount(account.limit)), caption, left, width=width)
