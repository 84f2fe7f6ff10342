"""Sources: every kind of place that microdata are kept."""
