"""The economy that tests measure stands in a file of its own beside them; it is imported by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
