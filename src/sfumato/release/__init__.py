"""What is published: products with their uncertainty, in a folder that anyone can verify."""

from sfumato.release.calibrated import Calibrated, Control, Raked
from sfumato.release.folder import Release, seal, write_levels, write_products
from sfumato.release.geography import write_shapes
from sfumato.release.manifest import Anchor, ExposureLine, Manifest, Promise, SpendLine, digest, now
from sfumato.release.noisy import Noisy
from sfumato.release.products import Cube, Product, Subject
from sfumato.release.records import Records, Squared, Varying
from sfumato.release.sparse import Sparse
from sfumato.release.statuses import NoNumber, Statuses
from sfumato.release.uncertainty import Independent, Uncertainty, Withheld
from sfumato.release.verify import Verdict, differences, open_release, private_key, sign, verify, withdraw

__all__ = [
    "Anchor",
    "Calibrated",
    "Control",
    "Cube",
    "ExposureLine",
    "Independent",
    "Manifest",
    "NoNumber",
    "Noisy",
    "Product",
    "Promise",
    "Raked",
    "Records",
    "Release",
    "Sparse",
    "SpendLine",
    "Squared",
    "Statuses",
    "Subject",
    "Uncertainty",
    "Varying",
    "Verdict",
    "Withheld",
    "differences",
    "digest",
    "now",
    "open_release",
    "private_key",
    "seal",
    "sign",
    "verify",
    "withdraw",
    "write_levels",
    "write_products",
    "write_shapes",
]
