"""Spellings: names in a cluster that are one name, written in several ways.

A name of plain ASCII is its own spelling, digits lose the zeros in front there, and any other distinct name is spelt
here, by the rule of `schema.spelling`, and lent.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.groups import MOST
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.queries.rules import SPELT
from sfumato.schema.spelling import spelled

TOO_MANY = f"More than {MOST:,} different names do so, too many to be listed."


def spelt(session: ClusterSession, frames: Sequence[Any], column: str) -> list[Any]:
    """Frames of names, `name0`, each with what its other spellings share, `spelling`."""
    plain = [frame.selectExpr("*", f"{dialect.spelling('name0')} AS plain") for frame in frames]
    odd = session.together([one.where("plain IS NULL AND name0 IS NOT NULL").select("name0") for one in plain])
    names = session.table(odd.distinct(), MOST, f"Column '{column}': {SPELT} {TOO_MANY}")["name0"]
    names = names.combine_chunks().cast(pa.string())
    told = session.lent(pa.table({"name0": names, "told": spelled(names)}))
    found = [frame.join(told, "name0", "left").withColumnRenamed("plain", "spelling") for frame in plain]
    return [frame.selectExpr("* EXCEPT (spelling, told)", "coalesce(spelling, told) AS spelling") for frame in found]


def spelt_alike(session: ClusterSession, frames: Sequence[Any]) -> Any:
    """The spellings that several names of some frames share."""
    together = session.together([frame.select("name0", "spelling") for frame in frames])
    ends = {"least": "min(name0)", "most": "max(name0)"}
    return session.summed(together, ["spelling"], ends).where("least <> most").select("spelling")
