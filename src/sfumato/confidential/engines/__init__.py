"""Engines: read the microdata and aggregate them over cells; nothing else leaves them. One file each."""
