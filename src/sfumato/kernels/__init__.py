"""Kernels: small typed loops, compiled where numba is installed; each has a twin in plain numpy that gives the same."""
