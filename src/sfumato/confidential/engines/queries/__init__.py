"""Queries: the records as relations of a session, the rules they may break, and their weights."""
