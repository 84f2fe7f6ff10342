"""Columns: the records as arrays of small integers, one a column, read batch by batch."""
