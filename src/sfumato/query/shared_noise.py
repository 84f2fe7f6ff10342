"""Shared noise: what two products of one release, or two releases, have in common.

Two products of one release that were measured have noise of their own; of one that a step made, the manifest says what
it was made of. Two releases share what both were moved to: least squares moves the cells of a release to controls with
noise N so that a total f pulls N⁻¹ C_f of them, C_f being the covariance of f with the totals that they control. They
have noise of their own otherwise, so f of one and g of the other have Σ C_f C_g / N in common, over the controls that
both were moved to.
"""

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.crosstab import Crosstab
from sfumato.query.source import Source
from sfumato.release import Calibrated, Cube, Independent, Product, Release, Varying
from sfumato.release.error_law import Floats
from sfumato.release.products.product import PUBLISHED
from sfumato.schema import Box

MOST = 250_000
"""The most covariances of cells with controls that are worked out; more are bounded."""


def noise_apart(one: Source, other: Source) -> bool | None:
    """Whether two products of one release have no noise in common; None where the release does not tell."""
    first, second = (_noise_in(one.release, source.product.subject.name) for source in (one, other))
    return None if first is None or second is None else not first & second


def refuse_shared(one: Source, other: Source) -> None:
    """Say so where two products of one release may have noise in common, of which nothing is stated."""
    if told := noise_apart(one, other):
        return
    titles = " and ".join(f"{source.product.subject.title} ({source.product.subject.name})" for source in (one, other))
    why = (
        "the release does not say what steps made them of"
        if told is None
        else "a step made one from the other's numbers"
    )
    raise QueryError(
        f"{titles} may share noise, as {why}, and how much is not stated, so no true error of one over the other can "
        "be; choose another number to divide by."
    )


def _noise_in(release: Release, name: str) -> frozenset[str] | None:
    """The names of all whose noise is in a product: its own, or those of what a step made it of."""
    lines, found, asked = {line.name: line for line in release.manifest.products}, set(), [name]
    measured = {spend.measure for spend in release.manifest.spends}
    while asked:
        one = asked.pop()
        if one in found:
            continue
        if one not in lines or not (lines[one].made_of or one in measured or lines[one].mechanism == PUBLISHED):
            return None
        found.add(one)
        asked += lines[one].made_of
    return frozenset(found)


def in_common(before: Crosstab, after: Crosstab) -> Floats | None:
    """The covariances of the cells of two tables by noise, cell by cell; None where they cannot be told."""
    own = [_noisy_totals(table) for table in (before, after)]
    if not any(own):
        return np.zeros(after.size)
    found = np.zeros(after.size)
    if len(own[0]) != len(own[1]):
        return None
    for first, second in zip(*own, strict=True):
        if not isinstance(first, Cube) or not isinstance(second, Cube) or not _alike(first, second):
            return None
        earlier, later = _pulled(before, first), _pulled(after, first)
        if earlier is None or later is None:
            return None
        found += (earlier * later).sum(axis=1)
    return found


def _noisy_totals(table: Crosstab) -> list[Product]:
    """The totals with noise that were published before and that the product of a table may have been moved to."""
    if isinstance(table.product.uncertainty, Independent):
        return []
    others = table.releases[-1].own.products.values()
    return [one for one in others if one.subject.mechanism == PUBLISHED and one.even != 0]


def _alike(one: Cube, other: Cube) -> bool:
    """Whether two releases hold the same totals, value by value and error by error."""
    if not isinstance(one.uncertainty, Varying) or not isinstance(other.uncertainty, Varying):
        return False
    told = [[(of.name, of.levels.codes) for of in product.attributes] for product in (one, other)]
    same = told[0] == told[1] and one.subject.step == other.subject.step and one.values.shape == other.values.shape
    errors = one.uncertainty.variances.ravel(), other.uncertainty.variances.ravel()
    return same and bool((one.values == other.values).all()) and np.array_equal(*errors)


def _pulled(table: Crosstab, totals: Cube) -> Floats | None:
    """C_f / √N for every cell of a table and every total; None where it was not moved to them by least squares alone.

    A box of a total is that of its leaves among those of the table's product.
    """
    product, stated = table.product, table.product.uncertainty
    known = {one.name: one.levels for one in product.attributes}
    if not isinstance(stated, Calibrated) or stated.base.even is None or not isinstance(totals.uncertainty, Varying):
        return None
    if any(one.name not in known or not {*one.levels.leaves} <= {*known[one.name].codes} for one in totals.attributes):
        return None
    noise = totals.uncertainty.variances.ravel() * float(totals.subject.step) ** 2
    names = [one.name for one in totals.attributes]
    moved = [one for one in stated.controls if [level.name for level in one.by] == names]
    variances = np.full(len(noise), moved[0].variance) if len(moved) == 1 else np.full(len(noise), np.nan)
    told, some = noise > 0, float(product.subject.step) ** 2
    if len(noise) * table.size > MOST or not np.allclose(variances[told] * some, noise[told]):
        return None
    leaves = [[known[one.name].mask(code) for code in one.levels.leaves] for one in totals.attributes]
    boxes = [
        Box({name: masks[at] for name, masks, at in zip(names, leaves, place, strict=True)})
        for place, kept in zip(np.ndindex(*totals.domain.shape), told, strict=True)
        if kept
    ]
    cells = [table.box(place) for place in np.ndindex(*table.shape)]
    found = product.errors.covariances(cells, boxes)
    return found * some / np.sqrt(noise[told]) if isinstance(found, np.ndarray) else None
