"""Words: the title of each metric, the sentence on how to read it, and what to mind."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SectionWords:
    """What a section says besides its numbers; {names} are filled in."""

    title: str
    reads: str
    mind: str = ""


WORDS = {
    "flips": SectionWords(
        "Zeros that moved",
        "The more true zeros are released as something else, and the more small numbers as zero, the less a zero in "
        "the release gives away.",
        "Zero means nearer to 0 than {near:g} records: that many in a count, and in a total that many times what a "
        "record adds on average.",
    ),
    "uniques": SectionWords(
        "Sample uniques",
        "A cell with one record points at somebody; where the last share is near the share of uniques in all cells, "
        "looking unique in the release says little.",
        "A cell looks unique when its released number of records rounds to 1.",
    ),
    "slivers": SectionWords(
        "Slivers by differencing",
        "Ask for a group, then for the group without one level: where one or two records lie between the answers, the "
        "release should not say so; 'of which true' near 'slivers in all pairs' means that differences tell nothing.",
        "Both questions hold {least} records or more, so that rules on cells would let both pass. The released "
        "difference is its median and quartiles over the true slivers.",
    ),
    "differences": SectionWords(
        "Differences of estimates",
        "How far a released number is from the true one; relative differences are over the cells whose true value is "
        "not 0.",
        "Grade A is a CV under {grade} by noise alone, away from 0. Hellinger's distance is 0 where the shares of all "
        "cells are right and 1 where no cell is shared, the mean over the tables; negative numbers count as 0.",
    ),
    "size": SectionWords(
        "Differences by size of cell",
        "Noise does not grow with a cell, so large cells come out right and small ones do not; look for the size from "
        "which on the numbers serve.",
        "Over the tables of one and two attributes together.",
    ),
    "publishable": SectionWords(
        "What may be published",
        "The rule asks for {least} records or more and a CV of at most {cv}: before, of the true number by its "
        "sampling error; after, of the released one, whose CV counts the noise too.",
        "By the CV alone is the relaxed rule: noise protects small cells, so that only precision is asked for.",
    ),
    "association": SectionWords(
        "Association: Cramér's V",
        "0 is no association of two attributes and 1 a perfect one; noise in small cells makes tables look more "
        "associated than they are, so mind pairs that rise.",
        "Negative cells count as 0, and empty rows and columns are left out, before and after.",
    ),
    "overlap": SectionWords(
        "Overlap of intervals",
        "How far the 95% interval with noise covers the one without (Karr et al. 2006): 1 if equal, 0.745 if shifted "
        "by one standard error, below 0 if apart.",
        "Over the cells that have a sampling error.",
    ),
    "honesty": SectionWords(
        "Are the stated errors true?",
        "About nine in ten 90% margins should hold what the noise was added to, more where numbers move in whole "
        "steps; well below means that the release claims to be more precise than it is.",
        "The last column is 1 where the stated variance is right and 2 where it is half of what it should be. Tables "
        "of one cube share their noise, so the band, nineteen of twenty honest releases, counts only the cells of the "
        "largest table as independent.",
    ),
    "errors": SectionWords(
        "Standard errors: noise beside sampling",
        "Where noise is a small part of the variance, protection costs users little; where it is most of it, more "
        "sample buys nothing.",
    ),
    "bounds": SectionWords(
        "What the bounds took",
        "Clip and at_most bend the numbers before any noise, mostly to one side, and no stated error speaks of it; "
        "keep it well below the noise.",
    ),
    "sweep": SectionWords(
        "Choosing the budget",
        "Each point is this plan with all its budgets scaled alike: go along the line and stop where the next step "
        "buys less than it costs.",
        "Every budget was rehearsed with {draws} on the true cells, charged to no ledger; the number at a point is "
        "its {currency} in all. Tables of one and two attributes.",
    ),
    "tables": SectionWords("Every table", "The same numbers table by table, for the tables that matter to you."),
}

LITERAL = (
    "The formula of Li and Krenzke, var + (estimate − truth)², agrees with the honest error on average (both are root "
    "mean squares) and must not leave the agency: in an empty cell it equals the estimate, so it says which cells are "
    "empty, and without sampling error it is the truth, up to a sign."
)
ANOTHER_DRAW = (
    "Which rows of a unit were left out was drawn by the run and cannot be known again; another draw of the same rule "
    "stands for it here."
)
NO_COUNT = "Where the release has no number of records, the rule after noise asks for the CV alone."

SMEARED = "Relative difference: a smear from the first to the ninth decile, a dot at the median"
EMPTIED = "Of the truly empty cells, the share that no longer looks empty"
RULED = "Umber: publishable before and after. Ochre: newly. Dashed: no longer. Pale: neither"
COVERED = "Dot: against what the noise was added to. Ring: against the data as they are, before clip and at_most"
SHARED = "Ochre: the noise's part of the variance. Slate: the sampling's"
CHEAPER = "Lower and further left is better: median relative error against what an attacker gains"
BETTER = "Higher and further left is better: share of grade A cells against what an attacker gains"
