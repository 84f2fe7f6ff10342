"""Address: where a Spark Connect server is, who may speak to it, and which of its tables hold the records."""

import os
import re
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError

FORM = "sc://HOST:PORT, as in sc://gateway.agency.example:443"
PORT = 15002
"""Where a Connect server listens unless it is told otherwise."""
VERSIONED = re.compile(r"(.*\S)\s+VERSION\s+AS\s+OF\s+([0-9]+)", re.IGNORECASE | re.DOTALL)
"""A table in one of its versions, in the words of Spark's SQL; a number is never given to another version."""
SECRET = ("token", "user_id")
"""What an address may not hold on a command line, where everybody on the machine can read it."""


@dataclass(frozen=True)
class Address:
    """A Spark Connect server; off this machine it is spoken to by TLS alone."""

    host: str
    port: int
    parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> "Address":
        """The address that a text is.

        >>> Address.parse("sc://127.0.0.1:15002").remote
        'sc://127.0.0.1:15002/'
        >>> Address.parse("sc://gateway:443").remote
        'sc://gateway:443/;use_ssl=true'
        """
        parts = urlsplit(text)
        if parts.scheme != "sc" or not parts.hostname or parts.username or parts.password:
            raise DataError(f"--spark takes the address of a Spark Connect server: {FORM}.")
        pairs = [one.partition("=") for one in parts.path.lstrip("/").split(";") if one]
        given = {unquote(name): unquote(value) for name, _, value in pairs}
        try:
            port = parts.port or PORT
        except ValueError:
            raise DataError(f"The port of --spark is no number of a port; it takes {FORM}.") from None
        token = given.pop("token", "")
        return cls(parts.hostname, port, tuple(given.items()), token)

    @property
    def on_this_machine(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def encrypted(self) -> bool:
        """Whether Spark's client speaks TLS to it: where it is told to, and with a token unless to localhost."""
        wanted = dict(self.parameters).get("use_ssl", "").lower() == "true" or not self.on_this_machine
        return wanted or (bool(self.token) and self.host != "localhost")

    @property
    def remote(self) -> str:
        """The address with all that a session needs, the token among it: never printed."""
        given = dict(self.parameters)
        if not self.on_this_machine:
            if given.get("use_ssl", "true").lower() != "true":
                raise DataError(
                    f"The server {self.host} is not on this machine, and use_ssl={given['use_ssl']} would send "
                    "codes of records and the token in the clear; give it TLS, or a proxy in front that has it."
                )
            given["use_ssl"] = "true"
        given |= {"token": self.token} if self.token else {}
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"sc://{host}:{self.port}/" + "".join(f";{name}={value}" for name, value in given.items())


@dataclass(frozen=True, repr=False)
class ClusterTable(Sealed):
    """One table of a cluster: a name in a catalog, a table of a format by its path, or Parquet files by their path."""

    address: Address
    written: str

    @property
    def name(self) -> str:
        """What is asked for, whatever its version."""
        return pinned[1] if (pinned := VERSIONED.fullmatch(self.written)) else self.written

    @property
    def version(self) -> int | None:
        """The version of the table that is meant; none is the newest.

        >>> ClusterTable(Address.parse("sc://localhost"), "delta.`/lake/jobs` VERSION AS OF 12").version
        12
        """
        return int(pinned[2]) if (pinned := VERSIONED.fullmatch(self.written)) else None

    @property
    def is_path(self) -> bool:
        """Whether files are meant, not a name in a catalog."""
        return "`" not in self.name and ("/" in self.name or self.name.endswith(".parquet"))


def told_address(written: str, token_file: Path | None = None) -> Address:
    """The address of an option; its token is that of SPARK_REMOTE for the same server, or stands in a file."""
    address = Address.parse(written)
    if address.token or any(name in SECRET for name, _ in address.parameters):
        raise DataError(
            "The address of --spark holds a token or a user, which whoever lists processes can read; put the whole "
            "address into the variable SPARK_REMOTE, or the token into a file and name it by --spark-token."
        )
    known = os.environ.get("SPARK_REMOTE", "")
    if known.startswith("sc://"):
        other = Address.parse(known)
        if (other.host, other.port) == (address.host, address.port):
            address = replace(other, parameters=tuple((dict(other.parameters) | dict(address.parameters)).items()))
    if token_file is None:
        return address
    return replace(address, token=_token(token_file))


def _token(file: Path) -> str:
    try:
        text, mode = file.read_text(encoding="utf-8").strip(), file.stat().st_mode
    except (OSError, UnicodeDecodeError):
        raise DataError(f"The file {file} of --spark-token could not be read as text.") from None
    if mode & 0o077:
        raise DataError(f"The file {file} can be read by others than you; `chmod 600 {file}`, and make a new token.")
    if not text or len(text.split()) != 1:
        raise DataError(f"The file {file} of --spark-token must hold the token and nothing else.")
    return text


def in_cluster(source: Any) -> bool:
    """Whether a source stays in a cluster: a table of one, or a frame of Spark, which is never collected."""
    return isinstance(source, ClusterTable) or type(source).__module__.startswith("pyspark.")
