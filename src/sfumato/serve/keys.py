"""Keys: what releases are called in addresses; of one name, and of one period, the release to use has the short key.

`employment` is the newest period that stands, `employment.2025-Q4` what stands for one period, and
`employment.` with the first twelve digits of a hash is one release for ever.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.query.notices import lasting, plain_name, private, slug
from sfumato.query.periods import When, when
from sfumato.release import Release

Standing = tuple[bool, bool, bool, When, str, str]


@dataclass(frozen=True)
class Keys:
    """The names of one release in addresses: the shortest, the one of its period if it stands for it, its own."""

    short: str
    period: str
    lasting: str


def keys(releases: Sequence[Release]) -> dict[str, Keys]:
    """The names of each release by its id.

    Of the releases of one name, and of those of one period, the one that readers should use has the short address.
    """
    replaced = {one.manifest.supersedes for one in releases}

    def standing(one: Release) -> Standing:
        """How much a release is the one to use: public, not withdrawn, not replaced, of a late period, issued late."""
        stands = not private(one), one.withdrawn is None, one.id not in replaced
        return *stands, when(one.manifest.period), one.manifest.created, one.id

    ranked = sorted(releases, key=standing)
    newest = {slug(one): one.id for one in ranked}
    of_period = {(slug(one), plain_name(one.manifest.period)): one.id for one in ranked}
    found = {}
    for one in releases:
        name, period = slug(one), plain_name(one.manifest.period)
        # The name of a period that could be taken for the hash of a release stands in no address.
        stands = of_period[name, period] == one.id and period and not re.fullmatch(r"[0-9a-f]{12}", period)
        dated = f"{name}.{period}" if stands else ""
        found[one.id] = Keys(name if newest[name] == one.id else dated or lasting(one), dated, lasting(one))
    return found
