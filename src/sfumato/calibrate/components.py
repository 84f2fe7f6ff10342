"""Least squares on a family of tables, component by component: what several tables say of one is averaged.

The residuals of a measured family have noise of their own in every component. A control whose cells have noise of their
own of one variance says as much of the same residuals, apart in every component too, where siblings are sums of as many
of its cells; so does another family. Least squares over all tables is then one average a component, weighted by
precisions, and errors keep their closed form. What is known exactly takes the place of what was measured, and may be of
any tree: it leaves no noise that components could share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import log2, prod

import numpy as np

from sfumato.calibrate.contradictions import common_step, refuse_contradicting
from sfumato.calibrate.step import ControlAhead, Step, laid_out, variances
from sfumato.errors import PlanError
from sfumato.release import Components, Product, Tables
from sfumato.release.noisy import Floats
from sfumato.release.residuals import Residuals, place_of, shared_evenly
from sfumato.release.whole_tables import parts_of_a_step, rounded_tables
from sfumato.schema import Component, Family, Table

MOST_BITS = 48
"""How many binary digits a total may have in parts of a step, so that doubles tell them apart."""


def refuse_family(step: Step, family: Family, controls: Sequence[ControlAhead]) -> None:
    """Say before anything is opened which control is not of the tables, or shares its noise between components."""
    if not controls:
        raise PlanError(f"Step '{step.name}' calibrates to nothing; name its control measures: to = [...].")
    for control in controls:
        if isinstance(control.domain, Table):
            _refuse_table(step, family, control.domain, control)
        for told in control.published:
            if isinstance(told.domain, Table):
                of_published(step, family, told)


def _refuse_table(step: Step, family: Family, table: Table, control: ControlAhead) -> None:
    if (why := _unheld(family, table)) or table.impossible:
        why = why or "some combinations of its levels are impossible, and tables of a family have all"
        raise PlanError(f"Step '{step.name}': no table of '{step.table}' sums to '{control.name}': {why}.")
    if not control.exact and (uneven := shared_evenly(family, table)):
        raise PlanError(
            f"Step '{step.name}': the parts of {uneven} have different numbers of children, so that the noise of "
            f"'{control.name}' is shared between its levels; control by {uneven}@0, or measure '{control.name}' as "
            f'tables too: by = {{ up_to = 1, of = ["{uneven}"] }}, with even-gaussian.'
        )


def _unheld(family: Family, table: Table) -> str:
    """Why no table of a family sums to another one, and which one would do; '' where one does."""
    known = dict(zip(family.names, family.trees, strict=True))
    if lacking := [one.name for one in table.attributes if one.name not in known and len(one.levels.leaves) > 1]:
        return f"they are not by {', '.join(lacking)}. Control by some of {', '.join(family.names)}"
    for one in table.attributes:
        if one.name in known and known[one.name].at(len(one.levels.leaves)) is None:
            own = family.attribute(one.name).levels
            return f"they have {one.name} in {len(own.leaves):,} parts. Control by {one.name}@{own.depth}"
    if place_of(family, table) is not None:
        return ""
    asked = " × ".join(map(str, table.by))
    return f"{asked} are not together in one of them. Control by fewer variables, or add these to `also`"


def of_published(step: Step, family: Family, control: Product) -> Residuals:
    """What one table says of the components of a family, in its own steps."""
    cube, table = laid_out(control, step)
    stated = variances(cube, step)
    each = {stated} if isinstance(stated, float) else set(stated)
    if len(each) > 1:
        raise PlanError(
            f"Step '{step.name}': the totals of '{cube.subject.name}' have several standard errors, and components "
            "would share their noise; give all of them the largest, or those that differ in a control of their own."
        )
    found = Residuals.of_table(family, table, cube.values, each.pop())
    if found is None:
        raise PlanError(f"Step '{step.name}': '{step.table}' has no table that sums to '{cube.subject.name}'.")
    return found


def moved_tables(step: Step, products: Mapping[str, Product]) -> Tables:
    """The tables of a family, moved to controls as far as the errors of both say, and rounded once."""
    table, controls = products[step.table], [products[name] for name in step.to]
    known = table.residuals
    if known is None:
        raise PlanError(f"Step '{step.name}' reads '{step.table}' as it was published; name a measure of this plan.")
    refuse_contradicting(step.name, dict(zip(step.to, controls, strict=True)))
    told = [_told(step, known.family, one).in_steps(float(one.subject.step / table.subject.step)) for one in controls]
    exact = [one for one, says in zip(controls, told, strict=True) if not any(says.variances.values())]
    finest = common_step(table.subject.step, *(one.subject.step for one in exact))
    return _rounded(step, table, reduce(averaged, told, known), finest)


def _told(step: Step, family: Family, control: Product) -> Residuals:
    """What a control says of the components of a family, in its own steps."""
    if control.residuals is not None:
        return control.residuals.within(family)
    if isinstance(control.domain, Family) and isinstance(control.uncertainty, Components):
        return Residuals.of_tables(control.domain, control.values, control.uncertainty).within(family)
    return of_published(step, family, control)


def averaged(known: Residuals, other: Residuals) -> Residuals:
    """What both say of every component together; where one of them is exact, what that says.

    One of them at most has roundings of another release.
    """
    parts, left, shares = dict(known.parts), dict(known.variances), dict(known.inherited)
    for component, part in other.parts.items():
        own, its = left[component], other.variances[component] * _width(other, component) / _width(known, component)
        if own:
            by = own / (own + its)
            parts[component] = _moved(parts[component], part, by)
            left[component] = own * its / (own + its)
            its_share = by * other.inherited.get(component, 0.0)
            shares[component] = (1 - by) * shares.get(component, 0.0) + its_share
    rounding = other.rounding if other.inherited else known.rounding
    return replace(known, parts=parts, variances=left, inherited=shares, rounding=rounding)


def _moved(part: Floats, to: Floats, by: float) -> Floats:
    return to if by == 1 else part + by * (to - part)


def _width(residuals: Residuals, component: Component) -> float:
    """What the variance of a component is multiplied by in its residuals; 1 where that differs and is the same in all.

    Levels of which some parts have more children than others are below the first, and families that have those have
    even designs, both of them, with the same widths; one table is no control there.
    """
    if not residuals.even:
        return 1.0
    trees = zip(residuals.family.trees, component, strict=True)
    siblings = [set(tree.rungs[level].children.tolist()) for tree, level in trees if level]
    return float(prod(1 + 1 / sizes.pop() for sizes in siblings if len(sizes) == 1))


def _rounded(step: Step, table: Product, found: Residuals, finest: Fraction) -> Tables:
    """Whole numbers of a step that is fine enough for what noise is left, and of which exact totals are multiples."""
    family, own = found.family, found.in_steps(float(table.subject.step / finest))
    stated, whole = own.stated(), family.components[0]
    largest = max(1.0, *(float(np.abs(part).sum()) for part in own.parts.values()))
    room = max(0, MOST_BITS - int(log2(largest)) - 1)
    parts = min(parts_of_a_step(stated.least(family), family.ways), 2**room)
    own = own.in_steps(parts)
    uncertainty = replace(own.stated(), rounded_total=bool(own.variances[whole]))
    subject = replace(table.subject, name=step.name, step=finest / parts)
    return Tables(subject, family, rounded_tables(family, own.parts), uncertainty, own)
