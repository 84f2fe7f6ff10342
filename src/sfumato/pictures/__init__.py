"""Pictures: SVG of plain marks with their errors, one renderer for the page, the report and the notebook."""

from sfumato.pictures.budget import BudgetShare, budget
from sfumato.pictures.lines import lines
from sfumato.pictures.mark import Caption, Mark, PictureWords
from sfumato.pictures.picture import Picture
from sfumato.pictures.power import power_curve
from sfumato.pictures.rows import bars, dots

KINDS = {"dot": dots, "bar": bars, "line": lines}
"""The kinds of picture that a table can be drawn as."""

__all__ = ["KINDS", "BudgetShare", "Caption", "Mark", "Picture", "PictureWords", "budget", "lines", "power_curve"]
