"""Kinds: every product found in this folder, by what manifests call it or by what a mechanism gave."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.plugins import found
from sfumato.release.manifest import Manifest
from sfumato.release.noisy import Noisy
from sfumato.release.products.product import Held, Product, ProductFile, Subject
from sfumato.release.uncertainties import Uncertainty
from sfumato.schema import Attribute

_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, OSError, MemoryError, RecursionError)
"""What reading raises where a file or a manifest is not as Sfumato writes it."""


def kinds() -> dict[str, type[Product]]:
    return {kind: type(example) for kind, example in found(import_module(__package__), by="kind").items()}


def measured(subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> Product:
    """What a mechanism gave, as the product that can hold it."""
    made = [one for kind in kinds().values() if (one := kind.of(subject, noisy, uncertainty)) is not None]
    if len(made) != 1:
        raise ReleaseError(f"'{subject.name}' fits {len(made)} kinds of product; exactly one must hold it.")
    return made[0]


@dataclass(frozen=True, eq=False)
class Shelf:
    """The products of a folder, each read once, and what was made of others after those."""

    folder: Path
    manifest: Manifest
    attributes: Mapping[str, Attribute]
    read: dict[str, Product | None] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)

    def product(self, name: str) -> Product:
        """The product of a name, which may ask for others before it is made itself."""
        if name not in self.read:
            self.read[name] = None
            self.read[name] = self._read(name)
        found = self.read[name]
        if found is None:
            raise ReleaseError(f"Product '{name}' is said to be made of itself; the manifest is wrong.")
        return found

    def _read(self, name: str) -> Product:
        line = next((one for one in self.manifest.products if one.name == name), None)
        if line is None:
            raise ReleaseError(f"The release has no product '{name}', and another is said to be made of it.")
        known = kinds()
        if line.kind not in known:
            raise ReleaseError(
                f"Product '{name}' is of kind '{line.kind}', which this version does not know; update Sfumato."
            )
        import pyarrow as pa

        opened = ProductFile(line, self.folder, self.manifest.unit, self.attributes, self.product, self.shared)
        try:
            return _fitting(known[line.kind].read(opened))
        except (*_UNFIT, pa.ArrowException) as error:
            raise ReleaseError(f"Product '{name}' does not fit its manifest: {error}") from None


def _fitting(product: Product) -> Product:
    """A product whose error can be that of its cells."""
    if isinstance(product, Held):
        product.uncertainty.refuse_unfit(product.domain, product.values)
    return product


def read_products(folder: Path, manifest: Manifest, attributes: Mapping[str, Attribute]) -> dict[str, Product]:
    """The products as the manifest describes them."""
    shelf = Shelf(folder, manifest, attributes)
    return {line.name: shelf.product(line.name) for line in manifest.products}
