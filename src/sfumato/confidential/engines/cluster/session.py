"""Session: the one way that Spark is spoken to; nothing else here knows its client."""

import re
import socket
import ssl
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from sfumato.confidential.engines.cluster import settings
from sfumato.confidential.engines.cluster.client import import_client
from sfumato.confidential.engines.cluster.dialect import quoted, same
from sfumato.confidential.engines.cluster.named import frame_of
from sfumato.confidential.engines.cluster.refusals import UNREAD, readable
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.confidential.sealed import Sealed, without_values
from sfumato.errors import DataError

LACKING = "Spark gave no session; check the address, that a Connect server listens there, its TLS and the token"
ANSWERS = 10
"""The seconds within which a server must answer at all."""
TRIES = 6
"""How often a server that does not answer is asked again, over about a minute; the client itself would for ten."""
QUOTING = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")
"""Where the client of Spark logs errors, which quote values; the first two do so unasked."""
PART, MOST_PARTS = 2**25, 2000
"""The bytes of files whose records are moved into one part, which takes some ten times the memory; the most parts."""
CHANGED = (
    "The files of the data changed while they were read, so that numbers may be of different records. Run it again "
    "when nobody writes to them, or name a copy."
)
LISTLESS = (
    "The plan needs the records several times, and this table does not tell its files, so that nobody knows whether "
    "it changed in between; name a table or a path of Parquet files, or of a table with versions one of these: "
    "TABLE VERSION AS OF NUMBER."
)


class ClusterSession(Sealed):
    """One session on a Connect server, with all sources as its frames; closed, it is gone there too."""

    def __init__(self, sources: Sequence[Any]) -> None:
        tables = [one for one in sources if isinstance(one, ClusterTable)]
        if tables and len(tables) < len(sources):
            raise DataError("Some data are tables of a cluster by name and some are frames; give all in one way.")
        with without_values(LACKING):
            self._own = _session(tables[0].address) if tables else None
        if self._own is None:
            for one in sources:
                _refuse_classic(one)
            self._spark = sources[0].sparkSession
            if any(one.sparkSession is not self._spark for one in sources):
                raise DataError("The frames are of several sessions of Spark; make all in one.")
        else:
            self._spark = self._own
        with without_values(LACKING):
            self._set()
        with readable():
            self.frames = [frame_of(self._spark, one) if isinstance(one, ClusterTable) else one for one in sources]
        self._versions = [one.version if isinstance(one, ClusterTable) else None for one in sources]
        self._given = self.frames
        self._read_since = False
        self._files: list[list[tuple[Any, ...]]] | None = None

    def _set(self) -> None:
        _silence()
        asked = lambda name: self._spark.conf.get(name, None)  # noqa: E731
        if self._own is not None:
            for name, value in settings.EXACT.items():
                self._own.conf.set(name, value)
            _hasten(self._own)
        settings.refuse_unset(asked)
        self.stated = settings.stated(asked)

    def kinds(self, place: int) -> dict[str, str]:
        """The columns of a source and the type of each; padded texts and collations are told as such.

        Texts of a largest length, VARCHAR, are not padded, and Spark gives them as strings.
        """
        with readable():
            fields = self.frames[place].schema.fields
        padded = {one.name: str(one.metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")) for one in fields}
        kinds = {one.name: one.dataType.simpleString() for one in fields}
        return kinds | {name: kind for name, kind in padded.items() if kind.startswith("char")}

    def names(self, place: int) -> list[str]:
        with readable():
            return list(self.frames[place].columns)

    def chosen(self, place: int, columns: Sequence[str]) -> Any:
        """Some columns of a source as they stand."""
        return self.frames[place].selectExpr(*map(quoted, columns))

    def _parts(self, frame: Any) -> Iterator[pa.Table]:
        """What a frame holds, as it comes."""
        client, plan = self._spark.client, frame._plan  # noqa: SLF001 - it has no public name, and all else holds all
        parts = client.to_table_as_iterator(plan.to_proto(client), plan.observations)
        return (one for one in parts if isinstance(one, pa.Table))

    def table(self, frame: Any, most: int, refusal: str) -> pa.Table:
        """What a frame holds; refused where it is more than so many rows, of which no more are fetched."""
        held, rows, self._read_since = [], 0, True
        with without_values("The cluster gave no answer"):
            for part in self._parts(frame):
                rows += len(part)
                if rows > most:
                    self._spark.interruptAll()
                    raise DataError(refusal)
                held.append(part)
            return pa.concat_tables(held) if held else frame.toArrow()

    def rows(self, frame: Any) -> list[tuple[Any, ...]]:
        """The few rows that a frame holds."""
        self._read_since = True
        with without_values("The cluster gave no answer"):
            table = frame.toArrow()
            return (
                list(zip(*(column.to_pylist() for column in table.columns), strict=True)) if table.num_columns else []
            )

    def holds(self, frame: Any) -> bool:
        """Whether a frame has any rows."""
        return bool(self.rows(frame.selectExpr("1 AS one").limit(1)))

    @staticmethod
    def summed(frame: Any, keys: Sequence[str], sums: Mapping[str, str]) -> Any:
        """The groups of a frame by some columns, with what is computed of each."""
        from pyspark.sql.connect.functions import expr

        return frame.groupBy(*keys).agg(*(expr(term).alias(name) for name, term in sums.items()))

    @property
    def lends(self) -> bool:
        """Whether the cluster says how large a table of ours may be that is lent to it; one of another make may not."""
        from pyspark.errors import PySparkException

        try:
            return bool(self._spark.conf.get(settings.LENDING))
        except PySparkException:
            return False

    def lent(self, table: pa.Table) -> Any:
        """A table of ours as a frame there: what it holds stands in no query."""
        from pyspark.sql.pandas.types import from_arrow_schema

        return self._spark.createDataFrame(table if len(table) else [], from_arrow_schema(table.schema))

    @staticmethod
    def looked_up(frame: Any, raws: Mapping[str, str], listed: Any) -> Any:
        """The rows of a frame with what is listed for values of its columns, each combination once; else nulls."""
        from pyspark.sql.connect.functions import expr

        hashed = listed.selectExpr("*", f"xxhash64({', '.join(raws.values())}) AS listed_hash")
        both = " AND ".join(["key_hash = listed_hash", *(same(key, raw) for key, raw in raws.items())])
        return (
            frame.selectExpr("*", f"xxhash64({', '.join(raws)}) AS key_hash")
            .join(hashed, expr(both), "left")
            .drop("key_hash", "listed_hash", *raws.values())
        )

    def moved(self, frame: Any, by: str) -> Any:
        """The rows of a frame where others with the same value are; in so many parts that each is sorted in memory."""
        parts = -(-self._bytes // PART)
        own = int(self._spark.conf.get("spark.sql.shuffle.partitions", None) or 1)
        return frame.repartition(min(parts, MOST_PARTS), by) if parts > own else frame.repartition(by)

    @property
    def _bytes(self) -> int:
        """How long the files of all sources are, as far as they are known."""
        return sum(length for files in self._files or [] for _, length, *_ in files)

    @staticmethod
    def together(frames: Sequence[Any]) -> Any:
        """The rows of several frames, which have the same columns."""
        return reduce(lambda one, other: one.unionAll(other), frames)

    def _listing(self) -> list[list[tuple[Any, ...]]]:
        """The files of every source with their lengths and times, as one may be written anew under its old name."""
        with without_values(UNREAD):
            places = [list(map(_plain_path, one.inputFiles())) for one in self._given]
            files = [self._spark.read.format("binaryFile").load(own) if own else None for own in places]
            told = ("path", "length", "modificationTime")
            listed = [sorted(self.rows(own.select(*told))) if own is not None else [] for own in files]
        self._read_since = False
        return listed

    def watch(self) -> None:
        """Keep which files the sources are, as these are read several times."""
        self._files = self._listing()
        if any(not files and version is None for files, version in zip(self._files, self._versions, strict=True)):
            raise DataError(LISTLESS)

    def refuse_changed(self) -> None:
        """Stop where the files are no longer those that were there at first."""
        if self._files is None or not self._read_since:
            return
        if self._listing() != self._files:
            raise DataError(CHANGED)

    def close(self) -> None:
        """Have the cluster forget the session, if it still answers."""
        own, self._own = self._own, None
        if own is not None:
            own.stop()


def _plain_path(file: str) -> str:
    r"""The path of a file that Spark lists as an address, in which nothing stands for other letters.

    >>> _plain_path("file:///lake/state=New%20York/part[1].parquet")
    'file:///lake/state=New York/part\\[1\\].parquet'
    """
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", unquote(file))


def _session(address: Address) -> Any:
    remote = address.remote
    with socket.create_connection((address.host, address.port), ANSWERS) as line:
        if address.encrypted:  # else the client itself would try again and again
            refuse_plain(line, address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of versions of other packages, and so would every run
        import_client()
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(remote).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=TRIES)])
        return session


def refuse_plain(line: socket.socket, address: Address) -> None:
    """Stop at a server that does not speak TLS; whose it is, the client of Spark asks, and nothing is sent here."""
    asked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asked.check_hostname, asked.verify_mode = False, ssl.CERT_NONE
    try:
        asked.wrap_socket(line, server_hostname=address.host).close()
    except OSError:
        why = "a token is sent by TLS alone" if address.token else "TLS is asked for"
        here = (
            ", or name it localhost, as a token then stays on this machine"
            if address.on_this_machine and address.token
            else ""
        )
        raise DataError(
            f"The server {address.host}:{address.port} answers, but not by TLS, and {why}; give it TLS, or a proxy in "
            f"front that has it{here}."
        ) from None


def _hasten(session: Any) -> None:
    """Set what is for speed alone, where the cluster knows it and lets it be set."""
    from pyspark.errors import PySparkException

    for name, value in settings.QUICK.items():
        with suppress(PySparkException):
            if session.conf.isModifiable(name):
                session.conf.set(name, value)


def _silence() -> None:
    """Keep the client from writing errors of Spark to the standard error before anybody can catch them."""
    from pyspark.logger import PySparkLogger

    for name in QUOTING:
        PySparkLogger.getLogger(name).disabled = True


def _refuse_classic(frame: Any) -> None:
    if ".connect." not in type(frame).__module__:
        raise DataError(
            "The frame is of a Spark session that runs in this process; make it in a session of Spark Connect: "
            "SparkSession.builder.remote('sc://…').getOrCreate()."
        )
