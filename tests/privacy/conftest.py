"""The contract stands in a file of its own beside the tests; it is imported by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
