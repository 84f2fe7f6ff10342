"""Crowds: which units of a cluster may have too many rows, found by counting names before any row is moved.

Names are counted by 64 bits of a hash. Two names of one hash are counted together, so that every unit with too many
rows is among the crowds; which of its rows are kept is found by its whole name.
"""

from functools import cached_property
from typing import Any

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.sealed import Sealed
from sfumato.privacy import Truncate

BUCKET = "bucket"
FEW = 2_000_000
"""So many crowds are sent to every task, 30 MB or so; of more, each task gets those of its rows."""


class Crowds(Sealed):
    """The buckets of names in which more rows stand than count of a unit."""

    def __init__(self, groups: RecordGroups, truncation: Truncate) -> None:
        self._groups, self._session, self.at_most = groups, groups.session, truncation.at_most
        self.unit, self._column = f"name{groups.named.index(truncation.column)}", truncation.column

    def coded(self, place: int) -> Any:
        """The records of a source with their names, each with the bucket that its unit is counted in."""
        kinds = [own[self._column] for own in self._groups.kinds]
        bucket = dialect.bucket(self._column, kinds[place], whole=all(kind in dialect.WHOLE for kind in kinds))
        return self._groups.coded(place, self._groups.names(place) | {BUCKET: bucket})

    @cached_property
    def _buckets(self) -> Any:
        names = self._session.together([self.coded(place).select(BUCKET) for place in range(len(self._groups.kinds))])
        counted = self._session.summed(names, [BUCKET], {"standing": "count(*)"})
        return self._session.held(counted.where(f"standing > {self.at_most}").select(BUCKET))

    @cached_property
    def many(self) -> int:
        """How many buckets are crowded; counting them has the cluster hold them."""
        ((many,),) = self._session.rows(self._session.summed(self._buckets, [], {"many": "count(*)"}))
        return int(many)

    def among(self, frame: Any, *, crowded: bool) -> Any:
        """The records of a frame that are of crowds, or those that are not."""
        sent = self._buckets.hint("broadcast" if self.many <= FEW else "shuffle_hash")
        return frame.join(sent, BUCKET, "left_semi" if crowded else "left_anti")
