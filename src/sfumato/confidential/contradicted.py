"""Contradicted: exact totals of a plan that the data have otherwise, where neither says anything of anybody.

Where every row keeps its cell of a total in all neighbours, counts are public: comparing them tells nothing that is
hidden. Of all other totals it would, and they are not looked at.
"""

import numpy as np

from sfumato.confidential.engines.request import Fault
from sfumato.confidential.tabulate import Tabulation
from sfumato.errors import DataError
from sfumato.mechanisms import Cells
from sfumato.mechanisms.cells import Integers
from sfumato.plan import Plan
from sfumato.plan.control import ControlTable
from sfumato.schema import Table


def contradicted(plan: Plan, records: Tabulation) -> list[Fault]:
    """The controls whose exact totals are others than those of the data, of counts that are public."""
    found = []
    for control in plan.published:
        of = plan.measure(control.of)
        fine, table = plan.over.table(of), plan.schema.table(control.by)
        counts = of.of.name == "count" and not of.of.weighted
        is_public = counts and control.shared is None and plan.over.keeps_cells(control.measure(of))
        if is_public and fine is not None:
            found += _fault(control, table, _summed(records.cells(of), fine, table))
    return found


def refuse_contradicted(plan: Plan, records: Tabulation) -> None:
    """Stop at the first control that the data contradict."""
    for fault in contradicted(plan, records):
        raise DataError(str(fault))


def _fault(control: ControlTable, table: Table, counts: Integers) -> list[Fault]:
    pairs = zip(control.totals, counts[table.possible].tolist(), strict=True)
    others = [(one, count) for one, count in pairs if not one.standard_error and one.value != count]
    if not others:
        return []
    first, count = others[0]
    rule = (
        f"[[control]] '{control.name}' has other totals than the data in {len(others):,} of {len(control.totals):,} "
        f"cells ({', '.join(first.codes) or 'all'}: {float(first.value):,g}, in the data {count:,}). Both are public, "
        "so that one of them is of other people; give the totals of the same ones."
    )
    return [Fault("", rule)]


def _summed(cells: Cells, fine: Table, table: Table) -> Integers:
    """The counts of a finer table summed to the cells of a coarser one."""
    places = np.flatnonzero(cells.values) if cells.places is None else cells.places
    counts = cells.values.ravel()[places] if cells.places is None else cells.values
    at = []
    for coarse in table.attributes:
        own = fine.attribute(coarse.name).levels
        same = own.leaves == coarse.levels.leaves
        above = np.arange(len(own.leaves)) if same else own.above(coarse.levels)
        at.append(above[fine.leaves_at(places, coarse.name)])
    summed = np.zeros(table.shape, dtype=np.int64)
    np.add.at(summed, tuple(at), counts)
    return summed
