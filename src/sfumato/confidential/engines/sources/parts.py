"""Parts: one table in many files; a folder of Parquet files, or a pattern of names, stands for all of them."""

from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sfumato.errors import DataError

PATTERN = "*?["
"""The letters that make a name a pattern of names."""
LAKES = {
    "_delta_log": "Delta",
    ".hoodie": "Hudi",
    "metadata/version-hint.text": "Iceberg",
    "metadata/*.metadata.json": "Iceberg",
}
"""What a folder holds whose files are of several versions of one table, some of them replaced or deleted since."""
WITHIN = ("data", ".parquet")
"""How the names of folders and files end that stand within the folder of a table."""
UNSEEN = ("_", ".")
"""How the names begin of what stands beside the parts: marks that a job ended, checksums, files half written."""

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How a folder is named whose records lack the value."""


def parts_of(source: Any) -> tuple[Any, ...]:
    """The files that a folder or a pattern stands for, in the order of their names; anything else is itself."""
    if not isinstance(source, (str, Path)) or "://" in str(source) or Path(source).is_file():
        return (source,)
    if Path(source).is_dir():
        return _of_folder(Path(source))
    if any(letter in str(source) for letter in PATTERN):
        return _fitting(str(source))
    return (source,)


def table_folders(path: str) -> Iterator[str]:
    """A path and those above it in which it may be one part of a table.

    >>> list(table_folders("s3a://lake/jobs/year=2026/*.parquet"))
    ['s3a://lake/jobs/year=2026/*.parquet', 's3a://lake/jobs/year=2026', 's3a://lake/jobs']
    >>> list(table_folders("/lake/jobs/"))
    ['/lake/jobs']
    """
    folder = path.rstrip("/")
    yield folder
    while "/" in folder:
        folder, _, last = folder.rpartition("/")
        if not ("=" in last or last.endswith(WITHIN) or any(letter in last for letter in PATTERN)):
            return
        yield folder


def _refuse_lake(folder: Path) -> None:
    for mark, kind in LAKES.items():
        if any(folder.glob(mark)):
            raise DataError(
                f"The folder {folder} is a table of {kind}: some files may be of versions that were replaced, and "
                "records would count again. Write the version that is meant as Parquet files, and name their folder."
            )


def _of_folder(folder: Path) -> tuple[str, ...]:
    _refuse_lake(folder)
    below = [one for one in folder.rglob("*") if one.is_file() and _is_part(one.relative_to(folder))]
    others = [one for one in below if one.suffix.lower() != ".parquet"]
    if others:
        raise DataError(
            f"The folder {folder} holds {others[0].relative_to(folder)}, which is no Parquet file; name the files that "
            f"are meant by a pattern in quotes, such as '{folder}/*{others[0].suffix or '.parquet'}'."
        )
    if not below:
        raise DataError(f"The folder {folder} holds no Parquet file.")
    return tuple(str(one) for one in sorted(below))


def _is_part(path: Path) -> bool:
    return not any(name.startswith(UNSEEN) for name in path.parts)


def _fitting(pattern: str) -> tuple[str, ...]:
    fitting = glob(pattern, recursive=True)  # noqa: PTH207 - of a pattern with its folders, from the root or from here
    found = tuple(sorted(one for one in fitting if Path(one).is_file()))
    for folder in {folder for one in found for folder in table_folders(one)}:
        _refuse_lake(Path(folder))
    if not found:
        raise DataError(f"No file fits the pattern {pattern}; * stands for any letters of a name, ** for any folders.")
    return found


def foldered(path: Path, own: Sequence[str], wanted: Sequence[str]) -> dict[str, str | None]:
    """What the folders of a file say of its records, of columns that are wanted and that the file itself has not.

    >>> foldered(Path("jobs/year=2026/state=New%20York/part-0.parquet"), ["year", "wage"], ["state", "year", "wage"])
    {'state': 'New York'}
    """
    named = dict(part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    texts = {name: None if text == NOTHING else unquote(text) for name, text in named.items()}
    return {name: texts[name] for name in wanted if name in texts and name not in own}
