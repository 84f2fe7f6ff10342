"""Spill: records that do not fit in memory, parted by their units into one encrypted file that has no name."""
