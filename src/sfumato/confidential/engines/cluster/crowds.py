"""Crowds: of the records of a unit in a cluster, which are among those that count; each record is moved once.

All records of a unit come together by 64 bits: the number that names it, or a hash of its name, which others may share.
Where so many came that a unit may be crowded, they get the digest of `crowded`, and their turn by its whole name.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.cluster.packed import ROOM, Packed
from sfumato.confidential.sealed import Sealed
from sfumato.privacy import Truncate
from sfumato.schema import Clipped, Table

TOGETHER = "together"
"""What the column is called by which the records of a unit come together."""
COUNTS, LACKS_NAME = "counts", "lacks_name"
"""What columns are called that say whether a record counts, and whether its unit has no name."""


class Crowds(Sealed):
    """The records of units of which at most so many count."""

    def __init__(self, groups: RecordGroups, truncation: Truncate, salt: bytes) -> None:
        self._groups, self._session, self._salt = groups, groups.session, salt
        self._column, self._most = truncation.column, truncation.at_most
        self._numbered = all(own[self._column] in dialect.WHOLE for own in groups.kinds)

    @property
    def _unit(self) -> str:
        return self._groups.name(self._column)

    @cached_property
    def _packed(self) -> Packed:
        reading = self._groups.reading
        leaves = {f"leaf{at}": (0, many) for at, many in enumerate(Table(reading.attributes).shape)}
        clips = {f"value{at}": one.ends for at, one in enumerate(reading.values) if isinstance(one, Clipped)}
        return Packed(
            leaves | {name: (low, high - low + 1) for name, (low, high) in clips.items() if high - low < ROOM}
        )

    @property
    def _carried(self) -> list[str]:
        """What is moved as it is: values that have no bound or a wide one, and names but for that which is a number."""
        values = [one for one in self._groups.said if one not in self._packed.extents]
        names = dict.fromkeys(map(self._groups.name, self._groups.reading.names))
        return [*values, *(one for one in names if not (self._numbered and one == self._unit))]

    def coded(self, place: int) -> Any:
        """The records of a source, each with its names and with that by which its unit comes together."""
        names, kind = self._groups.names(place), self._groups.kinds[place][self._column]
        return self._groups.coded(
            place, names | {TOGETHER: dialect.together(self._column, kind, numbered=self._numbered)}
        )

    def kept(self, told: Any) -> Any:
        """The records that count."""
        return self._opened(self._turned(self._counted(told)).where(f"turn <= {self._most}"))

    def divided(self, told: Any) -> Any:
        """All records, each with whether it counts and whether its unit has no name."""
        turned = self._turned(self._counted(told))
        return self._opened(turned, [f"turn <= {self._most} AS {COUNTS}", f"{TOGETHER} IS NULL AS {LACKS_NAME}"])

    def dropped(self, told: Any) -> Any:
        """The records that do not count."""
        crowded = self._counted(told).where(f"standing > {self._most}")
        return self._opened(self._turned(crowded).where(f"turn > {self._most}"))

    def _counted(self, told: Any) -> Any:
        """The records with their units together, each with how many came."""
        numbers = [f"{term} AS {name}" for name, term in self._packed.numbers.items()]
        moved = self._session.moved(told.selectExpr(TOGETHER, *numbers, *self._carried), TOGETHER)
        return moved.selectExpr("*", f"count(*) OVER (PARTITION BY {TOGETHER}) AS standing")

    def _turned(self, counted: Any) -> Any:
        """The records, each with its turn among those of its unit: by the least digest where there may be too many."""
        salted = counted.crossJoin(self._session.lent(pa.table({"salt": [self._salt.hex()]})))
        digest = f"CASE WHEN standing > {self._most} THEN {dialect.digest('salt', self._digested)} END AS digest"
        by = TOGETHER if self._numbered else f"{TOGETHER}, {self._unit}"
        turn = f"row_number() OVER (PARTITION BY {by} ORDER BY digest) AS turn"
        return salted.selectExpr("* EXCEPT (salt, standing)", digest).selectExpr("* EXCEPT (digest)", turn)

    @property
    def _digested(self) -> Sequence[str]:
        """What a row says, in the order of `crowded`."""
        own = TOGETHER if self._numbered else self._unit
        others = [one for one in map(self._groups.name, self._groups.reading.names) if one != self._unit]
        return [own, *(self._packed.columns.get(one, one) for one in self._groups.said), *others]

    def _opened(self, turned: Any, more: Sequence[str] = ()) -> Any:
        """The records with all columns that they had before they were moved, and more."""
        said = [f"{term} AS {name}" for name, term in self._packed.columns.items()]
        unit = [f"CAST({TOGETHER} AS STRING) AS {self._unit}"] if self._numbered else []
        return turned.selectExpr(*said, *self._carried, *unit, *more)
