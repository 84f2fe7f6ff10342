"""How areas were made, as their files say it."""

REPORT, FROM_LOCATIONS = "partition.json", "microaggregation"
"""The file that says how the areas beside it were made, and what it says of those made from where units are."""
SQUARES, JOINED_SQUARES = "squares", "squares joined by published numbers"
"""What it says of areas that no location is told by."""
MADE = "made"
"""The column of a list of areas, and the property of an outline, that says the same wherever the file goes."""
