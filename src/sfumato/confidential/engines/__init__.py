"""Engines: read the microdata and aggregate them over cells; nothing else leaves them."""

from sfumato.confidential.engines.dense import Dense, opened
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.reading import Fault, Reading
from sfumato.confidential.engines.weighing import Weighing

__all__ = ["Dense", "DuckDB", "Fault", "Reading", "Weighing", "opened"]
