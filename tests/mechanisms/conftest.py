"""The contract stands in files of its own beside the tests; they are imported by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
