"""The page of releases laid side by side: what each loses, how far it is off, and what an attacker gets out of it."""

from markupsafe import Markup

from sfumato import __version__
from sfumato.confidential.assessment.charts import parts_of
from sfumato.confidential.assessment.comparisons import Numbers
from sfumato.confidential.assessment.layout import HERE, environment

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def side_page(numbers: Numbers) -> str:
    """The report as one HTML file; everything that comes from a plan or a release is escaped."""
    style = Markup((HERE / "report.css").read_text(encoding="utf-8"))  # noqa: S704 - ours
    pictures = [_picture(one) for one in numbers["statistics"]]
    told = {"numbers": numbers, "letters": LETTERS, "pictures": pictures, "version": __version__}
    return environment().get_template("side_by_side.html").render(told, style=style)


def _picture(statistic: Numbers) -> Markup:
    """Of each release the cells that are near the truth, further off, and lost, by the units in a cell."""
    bars = []
    for row in statistic["sizes"]:
        told = zip(LETTERS, row["releases"], strict=False)
        for letter, one in ((letter, one) for letter, one in told if one):
            near, lost = one["near"] / one["cells"], one["lost"] / one["cells"]
            bars.append((f"{letter}, {row['size']}", [near, max(0.0, 1 - near - lost), lost]))
    return parts_of(bars, ["accent", "noise", "lost"], "share of cells")
