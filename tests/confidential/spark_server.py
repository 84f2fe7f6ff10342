"""A Spark Connect server of our own on loopback, from the environment that `make spark` makes; small, and stopped.

SFUMATO_SPARK_SERVER names one that runs already, as starting it takes longer than most tests.
"""

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

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


def home() -> Path:
    """Where Spark is; the test is skipped, in words, where it or Java or the client lacks."""
    if find_spec("pyspark") is None:  # importing it would warn
        pytest.skip("the client of Spark is not here: pip install '.[spark]'; records in a cluster are not tested")
    if shutil.which("java") is None:
        pytest.skip("there is no Java here, which Spark needs: records in a cluster are not tested")
    found = [*PLACE.glob("lib/python*/site-packages/pyspark/bin/spark-submit")]
    if not found:
        pytest.skip("there is no Spark in build/spark: `make spark` fetches it; records in a cluster are not tested")
    return found[0].parents[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@contextmanager
def served(folder: Path, master: str = "local[2]", **more: str):
    """The address of a server that runs while it is looked at."""
    place, port = home(), free_port()
    told = QUIET | {"spark.connect.grpc.binding.port": str(port)} | {"spark.ui.enabled": "false"} | more
    confs = [word for name, value in told.items() for word in ("--conf", f"{name}={value}")]
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    command = [
        place / "bin" / "spark-submit",
        "--driver-memory",
        "1g",
        "--master",
        master,
        "--driver-java-options",
        java,
    ]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", *confs, "spark-internal"]
    environment = os.environ | {"SPARK_HOME": str(place), "SPARK_LOCAL_IP": "127.0.0.1"}
    log = (folder / "spark.log").open("wb")
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        _wait(server, port, folder / "spark.log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)
        log.close()


def _wait(server, port, log):
    for _ in range(1200):  # a busy machine takes minutes
        if server.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.25)
        else:
            return
    pytest.fail(f"Spark did not start: {log.read_text(errors='replace')[-2000:]}")
