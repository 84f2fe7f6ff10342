"""Differences: what changed between two releases, in words."""

from sfumato.errors import PromiseError, how_many
from sfumato.privacy import Unbounded, in_sequence
from sfumato.privacy.notation import loss_from_dict
from sfumato.release.folder import Release
from sfumato.release.products import Product, Suppressed


def differences(one: Release, other: Release) -> list[str]:
    """What changed between two releases, in words; only public numbers are compared."""
    said = []
    for field in ("name", "title", "period", "unit", "mode", "releasable", "sampling", "grades", "software"):
        before, after = getattr(one.manifest, field), getattr(other.manifest, field)
        if before != after:
            said.append(f"{field}: {before} → {after}")
    if one.manifest.promise != other.manifest.promise:
        before, after = one.manifest.promise.loss_words, other.manifest.promise.loss_words
        said.append(f"promise: {before} → {after}" if before != after else "promise: the same loss, in other words")
    if one.manifest.exposures != other.manifest.exposures:
        said.append("exposures: the list of what lies outside the guarantee changed")
    said += _product_differences(one, other)
    said += _together(one, other)
    if other.manifest.supersedes == one.id:
        said.append("the second supersedes the first")
    return said


def _together(one: Release, other: Release) -> list[str]:
    """What both releases cost whoever is in both, where they were charged to one ledger."""
    anchors = one.manifest.ledger, other.manifest.ledger
    if one.id == other.id or None in anchors or anchors[0].population != anchors[1].population:  # type: ignore[union-attr]
        return []
    losses = [loss_from_dict(release.manifest.promise.loss) for release in (one, other)]
    if any(isinstance(loss, Unbounded) for loss in losses):
        return ["both together: unbounded, as one of them is"]
    try:
        both = in_sequence(losses, loss_from_dict(other.manifest.promise.limit))
    except PromiseError as error:
        return [f"both together: {error}"]
    told = f"power {both.power(0.05):.4f}, where the second alone has {losses[1].power(0.05):.4f}"
    return [f"both together: {both.words()}; a test at 5% tells neighbours apart with {told}"]


def _product_differences(one: Release, other: Release) -> list[str]:
    before = {entry.name: entry for entry in one.manifest.products}
    after = {entry.name: entry for entry in other.manifest.products}
    said = [f"product {name}: only in the first" for name in before if name not in after]
    said += [f"product {name}: only in the second" for name in after if name not in before]
    for name in (name for name in before if name in after):
        if before[name] != after[name]:
            said.append(f"product {name}: its description changed (attributes, mechanism, error or step)")
        elif one.manifest.files[before[name].file] != other.manifest.files[after[name].file]:
            said.append(f"product {name}: the numbers changed")
        said += _withheld(name, one.products.get(name), other.products.get(name))
    return said


def _withheld(name: str, one: Product | None, other: Product | None) -> list[str]:
    """Which cells either withholds: one that the other publishes, of the same numbers, is published."""
    if not isinstance(one, Suppressed) or not isinstance(other, Suppressed):
        return []
    if [nodes.codes for nodes in one.linked.nodes] != [nodes.codes for nodes in other.linked.nodes]:
        counts = [int(each.withheld.sum()) for each in (one, other)]
        held = f"the first withholds {how_many(counts[0], 'cell')}, the second {counts[1]:,}"
        return [f"product {name}: of other tables; {held}"]
    first, second = (set(each.keys[each.withheld].tolist()) for each in (one, other))
    if first == second:
        return []
    alone = f"{len(first - second):,} in the first alone and {len(second - first):,} in the second alone"
    return [f"product {name}: {how_many(len(first & second), 'cell', 'is', 'are')} withheld in both, {alone}"]
