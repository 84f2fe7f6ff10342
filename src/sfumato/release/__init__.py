"""What is published: products with their uncertainty, in a folder that anyone can verify."""

from sfumato.release.anchor import Anchor
from sfumato.release.differences import differences
from sfumato.release.folder import Release, seal, write_levels, write_products
from sfumato.release.geography import write_shapes
from sfumato.release.keys import private_key
from sfumato.release.manifest import ExposureLine, Manifest, SpendLine, digest, now
from sfumato.release.noisy import Noisy
from sfumato.release.products import (
    Cube,
    Groups,
    Incomplete,
    Product,
    Records,
    Sparse,
    Subject,
    Suppressed,
    Tables,
    WeightedCells,
    measured,
)
from sfumato.release.promise import Promise
from sfumato.release.release_in_language import in_language
from sfumato.release.statuses import NoNumber, Statuses
from sfumato.release.translation import Translation
from sfumato.release.uncertainties import (
    Calibrated,
    Components,
    Control,
    Departures,
    Earlier,
    Errors,
    Independent,
    Proportional,
    Raked,
    Shifted,
    Sided,
    Squared,
    Trend,
    Uncertainty,
    Varying,
    Withheld,
    stated,
    withheld,
)
from sfumato.release.verify import Verdict, noticed, open_release, read_manifest, sign, verify, withdraw

__all__ = [
    "Anchor",
    "Calibrated",
    "Components",
    "Control",
    "Cube",
    "Departures",
    "Earlier",
    "Errors",
    "ExposureLine",
    "Groups",
    "Incomplete",
    "Independent",
    "Manifest",
    "NoNumber",
    "Noisy",
    "Product",
    "Promise",
    "Proportional",
    "Raked",
    "Records",
    "Release",
    "Shifted",
    "Sided",
    "Sparse",
    "SpendLine",
    "Squared",
    "Statuses",
    "Subject",
    "Suppressed",
    "Tables",
    "Translation",
    "Trend",
    "Uncertainty",
    "Varying",
    "Verdict",
    "WeightedCells",
    "Withheld",
    "differences",
    "digest",
    "in_language",
    "measured",
    "noticed",
    "now",
    "open_release",
    "private_key",
    "read_manifest",
    "seal",
    "sign",
    "stated",
    "verify",
    "withdraw",
    "withheld",
    "write_levels",
    "write_products",
    "write_shapes",
]  # fmt: skip
