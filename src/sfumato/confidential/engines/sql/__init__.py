"""Session and dialect: DuckDB, opened in one way and spoken to in one dialect."""
