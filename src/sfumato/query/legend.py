"""Legend: what the errors and grades beside the numbers of a table are, in words, for whoever reads it as text."""

import numpy as np

from sfumato.query.answer import Answer

KINDS = {
    "moe90": "± is the 90% margin of error",
    "se": "SE is the standard error",
    "cv": "CV is the standard error as a share of the number",
    "interval95": "In brackets the 95% interval",
}


def legend(answer: Answer) -> str:
    """What stands beside each number, what it counts, and what the letters mean."""
    columns = answer.columns
    grades = set(columns.grade[~columns.empty].tolist())
    low, high = (f"{100 * columns.grades[name]:g}" for name in ("A", "B"))
    said = [f"{KINDS[answer.error]}, {_counted(answer)}."]
    if grades & {"A", "B", "C"}:
        said.append(f"A: CV under {low}%, B: {low} to {high}%, C: more, or 0 is within the 90% margin.")
    if "-" in grades:
        said.append("-: not graded, as not all of its error is stated.")
    return " ".join(said)


def _counted(answer: Answer) -> str:
    """Which errors are counted: those of noise, and those of sampling where they are stated."""
    if answer.figures.product.exact:
        return "which is 0, as numbers that are published are the true ones"
    sampled = answer.columns.sampling_variance[~answer.columns.empty]
    if np.isnan(sampled).all() and len(sampled):
        return "by privacy noise alone, as no sampling error is stated"
    if not (sampled > 0).any() and not np.isnan(sampled).any():
        return "by privacy noise alone, as everybody was counted"
    if np.isnan(sampled).any():
        return "by privacy noise and sampling, and by noise alone where no sampling error is stated"
    return "by privacy noise and sampling"
