"""Records in a folder: the frame once, and a file for each measure of its rows or of groups of them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import ReleaseError
from sfumato.privacy import plain
from sfumato.release.manifest import ProductLine
from sfumato.release.products import Product, Subject
from sfumato.release.records import Records, Spread, Squared, Trend, Varying
from sfumato.schema import Attribute, Frame

if TYPE_CHECKING:
    from sfumato.release.adjusted import ControlSet

KIND = "records"
KINDS = (KIND, "groups")
FRAME = "frame.parquet"


def write_records(folder: Path, products: Sequence[Records]) -> list[ProductLine]:
    """Write each product as one file: codes where rows are groups, values in steps, and what its errors need."""
    (folder / "products").mkdir(parents=True, exist_ok=True)
    frames = [one.frame for one in products if one.by is None]
    if frames:
        pq.write_table(pa.table(_codes(frames[0], ids=True)), folder / FRAME, compression="zstd")
    lines = []
    for one in products:
        name = f"products/{one.subject.name}.parquet"
        columns = {} if one.by is None else _codes(one.frame, ids=False)
        pq.write_table(pa.table({**columns, **_numbers(one)}), folder / name, compression="zstd")
        lines.append(_line(one, name))
    return lines


def _codes(frame: Frame, *, ids: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {frame.id or "id": frame.ids} if ids else {}
    for one in frame.attributes:
        codes = pa.array(one.levels.leaves, pa.string())
        columns[one.name] = pa.DictionaryArray.from_arrays(pa.array(frame.places[one.name]), codes)
    return columns


def _numbers(product: Records) -> dict[str, Any]:
    from sfumato.release.adjusted import Adjusted

    numbers: dict[str, Any] = {"value": product.values}
    if isinstance(product.spread, Varying):
        numbers["variance"] = product.spread.variances
    if isinstance(product.spread, Adjusted):
        numbers["size"] = product.spread.sizes
    return numbers


def _line(product: Records, file: str) -> ProductLine:
    subject = product.subject
    groups = [name if depth is None else f"{name}@{depth}" for name, depth in product.by or ()]
    return ProductLine(
        name=subject.name,
        kind=KIND if product.by is None else "groups",
        statistic=subject.statistic,
        title=subject.title,
        unit=subject.unit,
        step=plain(subject.step),
        additive=subject.additive,
        by=list(product.frame.names) if product.by is None else groups,
        mechanism=subject.mechanism,
        note=subject.note,
        uncertainty=product.spread.to_dict(),
        file=file,
    )


class Reader:
    """Reads the records of a folder: the frame once, measures before what was made of them."""

    def __init__(self, folder: Path, unit: str, known: Mapping[str, Attribute]) -> None:
        self._folder, self._unit, self._known = folder, unit, known
        self._frame: Frame | None = None

    def frame(self, names: Sequence[str]) -> Frame:
        """The frame, without the names of its rows, which no question needs."""
        if self._frame is None:
            attributes = tuple(self._known[name] for name in names)
            table = pq.read_table(self._folder / FRAME, columns=list(names))
            places = {one.name: _places(table[one.name], one) for one in attributes}
            self._frame = Frame(self._unit, attributes, places, range(table.num_rows))
        return self._frame

    def read(self, line: ProductLine, subject: Subject, before: Mapping[str, Product]) -> Records:
        table = pq.read_table(self._folder / line.file)
        values = table["value"].to_numpy()
        if line.kind == KIND:
            frame = self.frame(line.by)
            return Records(subject, frame, values, self._spread(line, table, before))
        by = tuple(_depth(one) for one in line.by)
        names = next(one.frame.names for one in before.values() if isinstance(one, Records) and one.by is None)
        groups = self.frame(names).grouped(by).groups
        return Records(subject, groups, values, self._spread(line, table, before), by)

    def _spread(self, line: ProductLine, table: pa.Table, before: Mapping[str, Product]) -> Spread:
        written = line.uncertainty
        if written["kind"] == "squared":
            return Squared(float(written["variance"]))
        if written["kind"] == "varying":
            trend = Trend(slope=float(written["slope"]), reach=float(written["reach"]))
            return Varying(table["variance"].to_numpy(), trend)
        from sfumato.release.adjusted import Adjusted

        controls = tuple(_control(one, Fraction(line.step), before) for one in written["controls"])
        return Adjusted(written["base"], Squared(float(written["variance"])), table["size"].to_numpy(), controls)


def _control(written: Mapping[str, Any], step: Fraction, before: Mapping[str, Product]) -> "ControlSet":
    """A set of controls with the noise of the measure that it is, in squared steps of what was adjusted to it."""
    from sfumato.release.adjusted import control_set

    control = before[written["product"]]
    if not isinstance(control, Records):
        raise ReleaseError(f"'{written['product']}' is no measure of the frame, and a product is adjusted to it.")
    by = tuple((str(name), depth) for name, depth in written["by"])
    return control_set(control, by, step)


def _depth(written: str) -> tuple[str, int | None]:
    name, at, depth = written.partition("@")
    return name, int(depth) if at else None


def _places(column: Any, attribute: Attribute) -> Any:
    coded = column.combine_chunks()
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    index = attribute.levels.leaf_index
    to = np.array([index[code] for code in coded.dictionary.to_pylist()], dtype=np.int32)
    return to[coded.indices.to_numpy(zero_copy_only=False)]
