"""Installs: what comes with sfumato[agency] or sfumato[spark] alone, and what is said where it lacks."""

from importlib.util import find_spec

AGENCY = (
    "duckdb", "highspy", "mpmath", "narwhals", "numba", "psycopg", "pyproj", "pyreadstat", "scipy", "shapefile",
    "shapely",
)  # fmt: skip
"""The packages that read microdata, draw noise, calibrate, suppress, project maps; readers need none."""

SPARK = ("pyspark", "grpc")
"""What speaks to a cluster, by --spark alone."""


def refuse_core() -> None:
    """Stop before anything is charged where a package lacks that may be needed after it."""
    for name in AGENCY:
        if find_spec(name) is None:
            raise ModuleNotFoundError(name=name)


def lacking(error: ModuleNotFoundError) -> str:
    """What to install, where the package that lacks comes with an extra of ours; nothing of any other.

    >>> lacking(ModuleNotFoundError(name="scipy.sparse"))[:27], lacking(ModuleNotFoundError(name="tree"))
    ('this command needs scipy, w', '')
    """
    name = str(error.name).partition(".")[0]
    extra = "agency" if name in AGENCY else "spark" if name in SPARK else ""
    if not extra:
        return ""
    needs = f"this command needs {name}, which is not installed; it comes with sfumato[{extra}]"
    return " ".join([f"{needs}: pip install 'sfumato[{extra}]'", *getattr(error, "__notes__", ())])
