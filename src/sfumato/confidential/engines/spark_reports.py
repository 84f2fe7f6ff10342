"""Spark reports: what units of a frame report in a cluster, one row a unit, fetched and read here as by DuckDB."""

from typing import ClassVar

from sfumato.confidential.engines.cluster.groups import MOST, kinds_of
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.engine import Sources, Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.engines.spark import Spark
from sfumato.errors import DataError
from sfumato.schema import Aggregate

TOO_MANY = f"More than {MOST:,} rows report to the frame, and each would come here; give it in parts."

JOINED = "The plan is over a frame and joins tables, which is not done in a cluster; join them in a view, and name it."


class SparkReports(DuckDB):
    """The reports to a register, which is here as a whole; of no other plan do records leave their cluster."""

    name: ClassVar[str] = "spark-reports"
    turn: ClassVar[int] = Spark.turn + 1
    knows: ClassVar[frozenset[type[Aggregate]]] = Spark.knows
    afar: ClassVar[bool] = True
    ahead: ClassVar[bool] = True

    def __init__(self, sources: Sources, reading: Reading, salt: bytes) -> None:
        rows = by_table(sources, reading.schema)[reading.schema.base]
        if reading.register is None or not all(map(in_cluster, rows)):
            raise Unsure("it fetches reports to a frame of units from a cluster, which these are not")
        if reading.schema.joined:
            raise DataError(JOINED)
        session = ClusterSession(rows)
        self.stated = session.stated
        try:
            columns = [list(kinds) for kinds in kinds_of(session, reading)]
            tables = [session.table(session.chosen(place, own), MOST, TOO_MANY) for place, own in enumerate(columns)]
        finally:
            session.close()
        super().__init__(tables, reading, salt)


EXAMPLE = SparkReports
