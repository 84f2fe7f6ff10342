"""What is published: products with their uncertainty, in a folder that anyone can verify."""

from sfumato.release.anchor import Anchor
from sfumato.release.folder import Release, seal, write_levels, write_products
from sfumato.release.geography import write_shapes
from sfumato.release.keys import private_key
from sfumato.release.manifest import ExposureLine, Manifest, SpendLine, digest, now
from sfumato.release.noisy import Noisy
from sfumato.release.products import Cube, Groups, Product, Records, Sparse, Subject, Suppressed, Tables, measured
from sfumato.release.promise import Promise
from sfumato.release.statuses import NoNumber, Statuses
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
    Squared,
    Trend,
    Uncertainty,
    Varying,
    Withheld,
    stated,
    withheld,
)
from sfumato.release.verify import Verdict, differences, noticed, open_release, read_manifest, sign, verify, withdraw

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
    "Sparse",
    "SpendLine",
    "Squared",
    "Statuses",
    "Subject",
    "Suppressed",
    "Tables",
    "Trend",
    "Uncertainty",
    "Varying",
    "Verdict",
    "Withheld",
    "differences",
    "digest",
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
