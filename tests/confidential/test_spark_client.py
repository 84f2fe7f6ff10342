"""The Spark client is imported in every kind of process, without SPARK_HOME and mostly without `__main__.__file__`."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipapp
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(find_spec("pyspark") is None, reason="the client of Spark is not installed")

PACKAGES = os.pathsep.join([str(Path(__file__).parents[2] / "src"), sysconfig.get_path("purelib")])
PLAIN = "from pyspark.sql.connect.session import SparkSession"
IMPORT = """
import sys
from sfumato.confidential.engines.cluster.client import DOCTEST_HELPER, import_client

assert hasattr(sys.modules["__main__"], "__file__") is {has_file}, "the process is of the kind that the test names"
import_client()
assert DOCTEST_HELPER not in sys.modules, "the stand-in is gone"
from pyspark.sql.connect.session import SparkSession
print("imported", SparkSession.__name__)
"""
IMPORTED = "imported SparkSession\n"
OPEN = """
import os, socket
from sfumato.confidential.engines.cluster.session import _session
from sfumato.confidential.engines.sources.cluster import Address

server = socket.create_server(("127.0.0.1", 0))
session = _session(Address.parse(f"sc://127.0.0.1:{server.getsockname()[1]}"))
print("opened", type(session).__module__, flush=True)
os._exit(0)
"""
"""A session is opened without a word to the server, so a port that listens is enough; closing it would take words."""
NOTEBOOK = """
import sys, types
main = types.ModuleType("__main__")
sys.modules["__main__"] = main
exec({cell!r}, vars(main))
"""
"""A kernel runs its cells in a `__main__` of its own."""
EMBEDDED = """
#include <Python.h>
int main(int count, char **words) {
    Py_Initialize();
    int failed = PyRun_SimpleString(words[1]);
    return Py_FinalizeEx() < 0 || failed;
}
"""
XDIST = """
def test_session():
    exec({cell!r}, {{}})
"""


def run(*words, **variables):
    """Return the exit code and the output of a process without SPARK_HOME."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYTEST"))}
    command = [str(word) for word in words]
    process = subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=False, timeout=300)
    return process.returncode, process.stdout + process.stderr


def test_the_plain_import_ends_a_python_c_and_ours_opens_a_session():
    code, output = run(sys.executable, "-W", "ignore", "-c", PLAIN)
    assert code == 255, "once the client imports here by itself, engines/cluster/client.py can go"
    assert "SPARK_HOME" in output
    assert run(sys.executable, "-W", "ignore", "-c", IMPORT.format(has_file=False)) == (0, IMPORTED)
    code, output = run(sys.executable, "-W", "ignore", "-c", OPEN)
    assert (code, output) == (0, "opened pyspark.sql.connect.session\n")


def test_a_notebook_imports_the_client(tmp_path):
    kernel = tmp_path / "kernel.py"
    kernel.write_text(NOTEBOOK.format(cell=IMPORT.format(has_file=False)), encoding="utf-8")
    assert run(sys.executable, "-W", "ignore", kernel) == (0, IMPORTED)


def test_a_zipapp_imports_the_client(tmp_path):
    (tmp_path / "app").mkdir()
    # A zipapp names itself in __file__; one whose loader does not is the harder case.
    for name, first in (("named", ""), ("unnamed", "del __file__\n")):
        script = first + IMPORT.format(has_file=not first)
        (tmp_path / "app" / "__main__.py").write_text(script, encoding="utf-8")
        zipapp.create_archive(tmp_path / "app", tmp_path / f"{name}.pyz")
        assert run(sys.executable, "-W", "ignore", tmp_path / f"{name}.pyz") == (0, IMPORTED)


def test_an_embedded_interpreter_imports_the_client(tmp_path):
    place, library = Path(sysconfig.get_config_var("LIBDIR")), sysconfig.get_config_var("LDLIBRARY")
    headers = Path(sysconfig.get_path("include"))
    if not (shutil.which("cc") and (place / library).exists() and (headers / "Python.h").exists()):
        pytest.skip("no C compiler, or no shared library of Python with its headers, on this machine")
    (tmp_path / "embedded.c").write_text(EMBEDDED, encoding="utf-8")
    words = ["cc", tmp_path / "embedded.c", "-o", tmp_path / "embedded", f"-I{headers}", f"-L{place}"]
    words += [f"-Wl,-rpath,{place}", f"-lpython{sysconfig.get_config_var('LDVERSION')}"]
    assert run(*words)[0] == 0
    code, output = run(
        tmp_path / "embedded",
        IMPORT.format(has_file=False),
        PYTHONHOME=sys.base_prefix,
        PYTHONPATH=PACKAGES,
        PYTHONWARNINGS="ignore",
    )
    assert (code, output) == (0, IMPORTED)


def test_a_worker_of_xdist_imports_the_client(tmp_path):
    pytest.importorskip("xdist")
    (tmp_path / "test_there.py").write_text(XDIST.format(cell=IMPORT.format(has_file=False)), encoding="utf-8")
    words = [
        "-m",
        "pytest",
        "-q",
        "-n",
        "1",
        "-W",
        "ignore",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        tmp_path,
        tmp_path,
    ]
    code, output = run(sys.executable, *words, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert code == 0, output
    assert "1 passed" in output
