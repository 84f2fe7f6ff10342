"""How areas were made, as the file beside them says it."""

REPORT, FROM_LOCATIONS = "partition.json", "microaggregation"
"""The file that says how the areas beside it were made, and what it says of those made from where units are."""
