"""Installs: what comes with sfumato[agency] alone, and what is said where it lacks."""

from importlib.util import find_spec

AGENCY = (
    "duckdb", "highspy", "mpmath", "narwhals", "numba", "psycopg", "pyproj", "pyreadstat", "scipy", "shapefile",
    "shapely",
)  # fmt: skip
"""The packages that read microdata, draw noise, calibrate, suppress, project maps; readers need none."""


def refuse_core() -> None:
    """Stop before anything is charged where a package lacks that may be needed after it."""
    for name in AGENCY:
        if find_spec(name) is None:
            raise ModuleNotFoundError(name=name)


def lacking(error: ModuleNotFoundError) -> str:
    """What to install, where the package that lacks comes with sfumato[agency]; nothing of any other.

    >>> lacking(ModuleNotFoundError(name="scipy.sparse"))[:27], lacking(ModuleNotFoundError(name="tree"))
    ('this command needs scipy, w', '')
    """
    name = str(error.name).partition(".")[0]
    if name not in AGENCY:
        return ""
    needs = f"this command needs {name}, which is not installed; it comes with sfumato[agency]"
    return " ".join([f"{needs}: pip install 'sfumato[agency]'", *getattr(error, "__notes__", ())])
