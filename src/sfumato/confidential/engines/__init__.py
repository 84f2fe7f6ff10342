"""Engines: read the microdata and aggregate them over cells; nothing else leaves them."""

from sfumato.confidential.engines.dense import Dense
from sfumato.confidential.engines.dense_weights import DenseWeights, opened_weights
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.passing import Passing, opened
from sfumato.confidential.engines.reading import Fault, Reading, TableRequest
from sfumato.confidential.engines.weighing import Weighing

__all__ = [
    "Dense",
    "DenseWeights",
    "DuckDB",
    "Fault",
    "Passing",
    "Reading",
    "TableRequest",
    "Weighing",
    "opened",
    "opened_weights",
]
