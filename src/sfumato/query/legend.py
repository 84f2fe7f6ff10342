"""Legend: what the errors and grades beside the numbers of a table are, in words, for whoever reads it as text."""

import numpy as np

from sfumato.query.answer import Answer
from sfumato.query.wording import grade_bounds, words


def legend(answer: Answer) -> str:
    """What stands beside each number, what it counts, and what the letters mean."""
    columns, words_of = answer.columns, words(answer.language)
    grades = set(columns.grade[~columns.empty].tolist())
    said = [f"{words_of(f'text.is_{answer.error}')}, {words_of(f'text.{_counted(answer)}')}."]
    if grades & {"A", "B", "C"}:
        said.append(words_of("text.grades", **grade_bounds(columns.grades, words_of)))
    if "-" in grades:
        said.append(words_of("text.ungraded"))
    return " ".join(said)


def _counted(answer: Answer) -> str:
    """The key of which errors are counted: by noise alone only where nothing is left out."""
    caveats, key = answer.figures.caveats, _errors(answer)
    if caveats and not caveats.unbought and key == "by_noise":
        return "by_noise_bought"
    return key + ("_cut" if caveats else "")


def _errors(answer: Answer) -> str:
    """The key of which errors are stated: those of noise, and those of sampling where they are stated."""
    if answer.figures.product.exact:
        return "by_none"
    sampled = answer.columns.sampling_variance[~answer.columns.empty]
    if np.isnan(sampled).all() and len(sampled):
        return "by_alone"
    if not (sampled > 0).any() and not np.isnan(sampled).any():
        return "by_noise"
    if np.isnan(sampled).any():
        return "by_some"
    return "by_both"
