"""Client: imports the Spark Connect client in every kind of process."""

import sys
from importlib import import_module
from types import ModuleType

CLIENT = "pyspark.sql.connect"
DOCTEST_HELPER = "pyspark.testing.connectutils"


def import_client() -> None:
    """Import the Spark Connect client, also where `__main__` has no file.

    `python -c`, pytest-xdist, some notebooks and embedded interpreters have such a `__main__`. The client takes them
    for its own doctests. It then imports its test helpers, which look for a whole Spark and end the process without it.
    """
    if CLIENT in sys.modules:
        return
    helper = ModuleType(DOCTEST_HELPER)
    vars(helper).update(should_test_connect=True, connect_requirement_message="")
    sys.modules.setdefault(DOCTEST_HELPER, helper)
    try:
        import_module(CLIENT)
    finally:
        if sys.modules.get(DOCTEST_HELPER) is helper:
            del sys.modules[DOCTEST_HELPER]
