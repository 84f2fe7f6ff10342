"""Crowds: of the records of a unit in a cluster, which are among those that count; each record is moved once.

All records of a unit come together by 64 bits: the number that names it, or a hash of its name, which others may share.
Where so many came that a unit may be crowded, they get the digest of `crowded`, and their turn by its whole name.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.cluster.packed import ROOM, TEXTS, Packed
from sfumato.confidential.sealed import Sealed
from sfumato.privacy import Truncate
from sfumato.schema import Clipped

TOGETHER = "together"
"""What the column is called by which the records of a unit come together."""
DROPPED = "dropped"
"""What the column is called that says whether a record does not count."""


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
        reading, leaves = self._groups.reading, {**self._groups.leaves.extents}
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
        return self._opened(self._turned(self._counted(self._moved(told))).where(f"turn <= {self._most}"))

    def dropped(self, told: Any) -> Any:
        """The records that do not count."""
        return self._opened(self._left(self._moved(told)))

    def summed(self, told: Any, sums: Mapping[str, str], *, doubled: bool) -> Any:
        """The groups of all records by their leaves, null where one lacks a number, and by whether they are dropped.

        Doubled, a record that is dropped is among the others too, so that units that keep all of theirs are not ranked.
        """
        lacking = " OR ".join(f"{one} IS NULL" for one in (TOGETHER, *self._groups.said))
        moved = self._moved(told.selectExpr("* EXCEPT (leaf0)", f"CASE WHEN NOT ({lacking}) THEN leaf0 END AS leaf0"))
        # One number of all leaves is a shorter key than they are, and is opened when few are left; it is 0 or more, and
        # of those that are dropped its complement, so that this is no key of its own.
        leaves = self._groups.leaves
        cells, values = self._packed.cut(leaves.extents), self._groups.said[len(leaves.extents) :]
        cells["packed0"] = f"(CASE WHEN {DROPPED} THEN ~{cells['packed0']} ELSE {cells['packed0']} END)"
        terms = cells | {one: self._packed.columns.get(one, one) for one in values}
        rows = self._doubled(moved) if doubled else self._divided(moved)
        keyed = rows.selectExpr(*(f"{term} AS {name}" for name, term in terms.items()))
        added = {name: term for name, term in sums.items() if not name.startswith("lacking")}
        opened = leaves.columns | dict.fromkeys(sums.keys() - added.keys(), "0L")
        groups = self._session.summed(keyed, [*cells], added)
        divided = [f"packed0 < 0 AS {DROPPED}", "greatest(packed0, ~packed0) AS packed0"]
        return groups.selectExpr("* EXCEPT (packed0)", *divided).selectExpr(
            *(f"{term} AS {name}" for name, term in opened.items()), DROPPED, *added
        )

    def _doubled(self, moved: Any) -> Any:
        """All records as they were moved, and those that are dropped once more; Spark moves them once for both."""
        parts = {"false": moved, "true": self._left(moved)}
        return self._session.together([one.selectExpr("*", f"{flag} AS {DROPPED}") for flag, one in parts.items()])

    def _divided(self, moved: Any) -> Any:
        """All records as they were moved, each with whether it is dropped."""
        return self._turned(self._counted(moved)).selectExpr("* EXCEPT (turn)", f"turn > {self._most} AS {DROPPED}")

    def _moved(self, told: Any) -> Any:
        """The records with their units together."""
        numbers = [f"{term} AS {name}" for name, term in self._packed.numbers.items()]
        return self._session.moved(told.selectExpr(TOGETHER, *numbers, *self._carried), TOGETHER)

    def _counted(self, moved: Any) -> Any:
        """The records, each with how many came together with it."""
        return moved.selectExpr("*", f"count(*) OVER (PARTITION BY {TOGETHER}) AS standing")

    def _left(self, moved: Any) -> Any:
        """The records that do not count, as they were moved."""
        crowded = self._counted(moved).where(f"standing > {self._most}")
        return self._turned(crowded).where(f"turn > {self._most}").drop("turn")

    def _turned(self, counted: Any) -> Any:
        """The records, each with its turn among those of its unit: by the least digest where there may be too many."""
        lent = pa.table({"salt": [self._salt.hex()], "texts": [list(map(str, range(TEXTS)))]})
        salted = counted.crossJoin(self._session.lent(lent))
        digest = f"CASE WHEN standing > {self._most} THEN {dialect.digest('salt', self._digested)} END AS digest"
        by = TOGETHER if self._numbered else f"{TOGETHER}, {self._unit}"
        turn = f"row_number() OVER (PARTITION BY {by} ORDER BY digest) AS turn"
        return salted.selectExpr("* EXCEPT (salt, texts, standing)", digest).selectExpr("* EXCEPT (digest)", turn)

    @property
    def _digested(self) -> Sequence[str]:
        """What a row says as texts, in the order of `crowded`."""
        own = f"CAST({TOGETHER} AS STRING)" if self._numbered else self._unit
        others = [one for one in map(self._groups.name, self._groups.reading.names) if one != self._unit]
        return [own, *map(self._packed.written, self._groups.said), *others]

    def _opened(self, turned: Any) -> Any:
        """The records with all columns that they had before they were moved."""
        said = [f"{term} AS {name}" for name, term in self._packed.columns.items()]
        unit = [f"CAST({TOGETHER} AS STRING) AS {self._unit}"] if self._numbered else []
        return turned.selectExpr(*said, *self._carried, *unit)
