"""Sfumato publishes employment and establishment statistics, not the people or the businesses behind them.

A plan is a list of measurements; everything after a measurement is arithmetic on public numbers.
One sentence has one shape: measure `of` a statistic, `by` some attributes, `with` a mechanism.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "sfumato.errors": (
        "DataError",
        "LedgerError",
        "PlanError",
        "PromiseError",
        "QueryError",
        "ReleaseError",
        "SfumatoError",
    ),
    "sfumato.calibrate": ("LeastSquares", "Rake", "Weigh"),
    "sfumato.mechanisms": ("DiscreteGaussian", "Geometric", "Mechanism", "RoundedGaussian", "TruncatedGeometricNoise"),
    "sfumato.plan": ("Measure", "Plan", "Publish", "VarianceFunction"),
    "sfumato.privacy": ("AddRemove", "Approximate", "Concentrated", "Exposure", "Gaussian", "ReplaceOne", "Unbounded"),
    "sfumato.query": ("Estimate", "Group", "QueryEngine", "Series", "find", "read_groups", "series"),
    "sfumato.release": ("Release", "Withheld", "verify"),
    "sfumato.schema": ("Attribute", "Bands", "Column", "Levels", "Missing", "Recode", "Rule", "Schema", "Table"),
    "sfumato.statistics": ("Count", "Statistic", "Total"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names} | {"open": "sfumato.query"}
_RENAMED = {"open": "open_folder"}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the public names, each imported when first used


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used, so that a command starts at once."""
    if name not in _HOME:
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), _RENAMED.get(name, name))


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
