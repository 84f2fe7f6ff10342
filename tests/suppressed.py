"""A suppressed release made by hand: pay by trade and size of firm, four of its cells withheld."""

import numpy as np
from tests.serve.small import anchored, promised

import sfumato as sf
from sfumato.release import Manifest, SpendLine, Subject, Suppressed, seal, write_levels, write_products
from sfumato.release.products.suppressed import EXAMPLE
from sfumato.schema import CellKeys, Schema, UpTo

WHY = "true totals are published, and those of few contributors are withheld"
LOST = {"unbounded": WHY}
TRADES = sf.Levels.of([
    {"code": "1", "label": "Trades"},
    {"code": "2", "label": "Services"},
    {"code": "1a", "label": "Masons", "parent": "1"},
    {"code": "1b", "label": "Tilers", "parent": "1"},
    {"code": "1c", "label": "Roofers", "parent": "1"},
])  # fmt: skip
TRADE = sf.Attribute("trade", TRADES, label="Trade")
SIZE = sf.Attribute(
    "size", sf.Levels.of([{"code": "s", "label": "Small"}, {"code": "l", "label": "Large"}]), label="Size"
)
PAY = {
    "1a": (5, 2),
    "1b": (3, 6),
    "1c": (9, 1),
    "2": (4, 8),
}
"""What small and large firms of a trade pay."""


def linked(attributes, tables):
    """The cells of tables, each written as a list of attributes."""
    return CellKeys(UpTo(len(tables[0]), tables[0], tables[1:]).family(Schema(attributes)))


def margins():
    """Every cell of the table by trade and size, and what is paid in it; the sums are written out by hand."""
    both = {trade: {None: small + large, "s": small, "l": large} for trade, (small, large) in PAY.items()}
    both["1"] = {None: 26, "s": 17, "l": 9}
    both[None] = {None: 38, "s": 21, "l": 17}
    return {(trade, size): value for trade, row in both.items() for size, value in row.items()}


def table(withheld=frozenset((trade, size) for trade in ("1a", "1b") for size in "sl"), cells=None, **said):
    """The product, with some cells withheld."""
    cells = margins() if cells is None else cells
    all_ = linked((TRADE, SIZE), (("trade", "size"),))
    subject = Subject(
        **{**vars(EXAMPLE.subject), "title": "Pay", "mechanism": "cell suppression (fewer than 3 firms)", **said}
    )
    hidden = np.array([one in withheld for one in cells])
    return Suppressed.listed(subject, all_.family, all_.coded(list(cells)), np.array(list(cells.values())), hidden)


def release(folder, product=None, **said):
    """Its folder."""
    folder.mkdir(parents=True)
    product = product or table()
    told = {
        "name": "pay",
        "title": "Pay in the trades",
        "period": "2026",
        "unit": "firm",
        "created": "2026-01-02T03:04:05Z",
        "software": "by hand",
        "mode": "sound",
        "rehearsal": False,
        "releasable": True,
        "why": "",
        "promise": promised(
            LOST, loss_words=f"unbounded: {WHY}", power_at_5_percent=1.0, right_guess_from_even_odds=1.0
        ),
        "spends": [SpendLine(measure="pay", mechanism=product.subject.mechanism, loss=LOST, words=f"unbounded: {WHY}")],
        "exposures": [],
        "ledger": anchored({"epsilon": "0"}, {"epsilon": "8"}, unbounded=1),
        "sampling": {"kind": "census"},
        "grades": {"A": 0.15, "B": 0.3},
        "files": {},
    }
    lines = {"products": write_products(folder, [product]), "attributes": write_levels(folder, product.attributes)}
    seal(folder, Manifest(**{**told, **said}, **lines))
    return folder
