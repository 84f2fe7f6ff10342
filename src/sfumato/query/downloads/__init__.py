"""Downloads: one answer in many formats, each with every error, every notice and the release it came from."""
