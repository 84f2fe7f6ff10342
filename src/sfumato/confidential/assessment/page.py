"""The page of an assessment: sections of pictures and tables with one sentence each on how to read them."""

from markupsafe import Markup

from sfumato import __version__
from sfumato.confidential.assessment.comparisons import Numbers
from sfumato.confidential.assessment.honesty import broken, missed
from sfumato.confidential.assessment.layout import HERE, environment, parts
from sfumato.confidential.assessment.sections import sections


def page(numbers: Numbers) -> str:
    """The report as one HTML file; everything that comes from a plan or a release is escaped."""
    style = Markup((HERE / "report.css").read_text(encoding="utf-8"))  # noqa: S704 - ours
    stated = [part["honesty"] for _, _, part in parts(numbers) if part["honesty"]["promised"] is not None]
    cells = sum(one["cells"] for one in stated)
    held = sum(one["promised"] * one["cells"] for one in stated) / cells if cells else None
    told = {
        "numbers": numbers,
        "held": held,
        "broken": broken(numbers),
        "missed": missed(numbers),
        "sections": list(sections(numbers)),
    }
    return environment().get_template("report.html").render(told, style=style, version=__version__)
