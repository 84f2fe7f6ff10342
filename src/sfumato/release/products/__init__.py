"""Products: what a release holds, one file a kind, each of which writes and reads itself."""

from sfumato.release.products.cube import Cube
from sfumato.release.products.groups import Groups
from sfumato.release.products.incomplete import Incomplete
from sfumato.release.products.kinds import measured, read_products
from sfumato.release.products.product import Product, Subject
from sfumato.release.products.records import Records
from sfumato.release.products.sparse import Sparse
from sfumato.release.products.suppressed import Suppressed
from sfumato.release.products.tables import Tables
from sfumato.release.products.weighted_cells import WeightedCells

__all__ = [
    "Cube", "Groups", "Incomplete", "Product", "Records", "Sparse", "Subject", "Suppressed", "Tables", "WeightedCells",
    "measured",
    "read_products",
]  # fmt: skip
