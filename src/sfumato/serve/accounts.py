"""The accounts of the releases that are served."""

from collections.abc import Sequence
from functools import lru_cache

from sfumato.query.accounts import PublicAccount, accounts
from sfumato.query.histories import Stated, histories
from sfumato.serve.editions import Edition


@lru_cache(maxsize=2)
def accounts_of(editions: tuple[Edition, ...]) -> tuple[PublicAccount, ...]:
    """The accounts that the releases were charged to, those with the least left first; added up once."""
    read = (Stated.read(one.release.id, one.release.manifest) for one in editions)
    return accounts(histories(one for one in read if one))


def account_of(edition: Edition, editions: tuple[Edition, ...]) -> PublicAccount | None:
    """The account of one release; none where it was charged to no ledger, or its charge cannot be read."""
    held = (one for one in accounts_of(editions) if edition.release.id in {line.release.id for line in one.entries})
    return next(held, None)


def uncharged(editions: Sequence[Edition]) -> tuple[Edition, ...]:
    """The releases that no ledger was charged for, or whose charge cannot be read."""
    return tuple(one for one in editions if Stated.read(one.release.id, one.release.manifest) is None)
