"""A Spark Connect server of our own on loopback, from the environment that `make spark` makes; small, and stopped.

SFUMATO_SPARK_SERVER names one that runs already, as starting it takes longer than most tests.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

PLACE = Path(os.environ.get("SFUMATO_SPARK", Path(__file__).parents[2] / "build" / "spark"))
QUIET = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
    # Tables of a few rows take longer to compile for than to read.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class NoSpark(Exception):  # noqa: N818 - it is no error
    """Why no server is started here, in words."""


def home() -> Path:
    """Where Spark is; refused in words where it or Java or the client lacks."""
    if find_spec("pyspark") is None:  # importing it would warn
        raise NoSpark("the client of Spark is not here: pip install '.[spark]'")
    if shutil.which("java") is None:
        raise NoSpark("there is no Java here, which Spark needs")
    found = [*PLACE.glob("lib/python*/site-packages/pyspark/bin/spark-submit")]
    if not found:
        raise NoSpark("there is no Spark in build/spark: `make spark` fetches it")
    return found[0].parents[1]


def free_port(host: str = "127.0.0.1") -> int:
    with socket.create_server((host, 0)) as one:
        return int(one.getsockname()[1])


@contextmanager
def served(folder: Path, master: str = "local[2]", told: Mapping[str, str] = {}, memory: str = "1g", java: str = JAVA):
    """The address of a Connect server that runs while it is looked at; what it is told stands in a file of its own."""
    port = free_port()
    settings = QUIET | {"spark.ui.enabled": "false"} | told | {"spark.connect.grpc.binding.port": str(port)}
    words = ["bin/spark-submit", "--master", master]
    words += ["--properties-file", _properties(folder / "connect.conf", settings)]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with _started(folder, "connect", words, port, memory, java):
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def standalone(folder: Path, told: Mapping[str, str]):
    """The address of a master on loopback with two workers of one core each; all are told the settings.

    The workers are at two addresses, as Spark does no task a second time where it is being done.
    """
    port, conf = free_port(), _properties(folder / "standalone.conf", told)
    deploy = "org.apache.spark.deploy"
    master = ["bin/spark-class", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    with ExitStack() as running:
        words = [*master, "--webui-port", str(free_port()), "--properties-file", conf]
        running.enter_context(_started(folder, "master", words, port))
        for name, host in (("one", "127.0.0.1"), ("two", "127.0.0.2")):
            own = free_port(host)
            worker = ["bin/spark-class", f"{deploy}.worker.Worker", "--host", host, "--port", str(own)]
            worker += ["--cores", "1", "--memory", "1g", "--webui-port", str(free_port()), "--properties-file", conf]
            worker += ["--work-dir", str(folder / f"worker-{name}"), f"spark://127.0.0.1:{port}"]
            running.enter_context(_started(folder, f"worker-{name}", worker, own, host=host))
        yield f"spark://127.0.0.1:{port}"


def _properties(place: Path, told: Mapping[str, str]) -> str:
    place.touch(0o600)
    place.write_text("".join(f"{name} {value}\n" for name, value in told.items()), encoding="utf-8")
    return str(place)


@contextmanager
def _started(
    folder: Path,
    name: str,
    words: Sequence[str],
    port: int,
    memory: str = "256m",
    java: str = JAVA,
    host: str = "127.0.0.1",
):
    """A program of Spark that listens, stopped in the end."""
    place, log = home(), folder / f"{name}.log"
    own = {"SPARK_HOME": str(place), "SPARK_LOCAL_IP": host}
    own |= {"SPARK_DAEMON_MEMORY": memory, "SPARK_DAEMON_JAVA_OPTS": java}
    with log.open("wb") as said:
        program = subprocess.Popen(
            [place / words[0], *words[1:]], cwd=folder, env=os.environ | own, stdout=said, stderr=said
        )
    try:
        _wait(program, (host, port), log)
        yield
    finally:
        program.terminate()
        program.wait(60)


def _wait(server, address, log):
    for _ in range(1200):  # a busy machine takes minutes
        if server.poll() is not None:
            break
        try:
            socket.create_connection(address, 1).close()
        except OSError:
            time.sleep(0.25)
        else:
            return
    raise RuntimeError(f"Spark did not start: {log.read_text(errors='replace')[-2000:]}")
