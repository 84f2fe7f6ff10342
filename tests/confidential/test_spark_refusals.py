"""What a server of Spark is refused for, or refuses, in words that quote neither a token nor a value."""

import socket
import ssl
import threading
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sfumato.confidential.engines.cluster.refusals import readable
from sfumato.confidential.engines.cluster.session import refuse_plain
from sfumato.confidential.engines.sources.cluster import Address
from sfumato.errors import DataError


@contextmanager
def answering(context=None):
    """The port of a server that answers what it is sent in the clear, as gRPC does without TLS, or by TLS."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with suppress(OSError), closing(server.accept()[0]) as line, tls(line, server_side=True) as own:
                own.sendall(b"\0\0\0\4\0\0\0\0\0")
                own.recv(1)

        def tls(line, **side):
            return context.wrap_socket(line, **side) if context else nullcontext(line)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)


def certified(folder):
    """The side of a server that has a certificate of its own."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "gate")])
    own = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    own = own.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(hours=1)).sign(key, SHA256())
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "gate.pem").write_bytes(plain + own.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "gate.pem")
    return context


def test_a_server_without_tls_is_refused_at_once_where_a_token_would_be_sent(tmp_path):
    def asked(port, **more):
        address = replace(Address.parse(f"sc://127.0.0.1:{port}"), **more)
        with socket.create_connection(("127.0.0.1", port), 5) as line:
            refuse_plain(line, address)

    with (
        answering() as port,
        pytest.raises(DataError, match=r"but not by TLS, and a token is sent .* localhost") as told,
    ):
        asked(port, token="abc")
    assert "abc" not in str(told.value)
    with answering() as port, pytest.raises(DataError, match="but not by TLS, and TLS is asked for"):
        asked(port, parameters=(("use_ssl", "true"),))
    with answering(certified(tmp_path)) as port:
        asked(port, token="abc")  # the arm that goes through
    here = Address.parse("sc://127.0.0.1:1")
    assert [one.encrypted for one in (here, replace(here, token="abc"))] == [False, True]
    assert not replace(here, host="localhost", token="abc").encrypted, "as Spark's client has it"
    assert Address.parse("sc://gate:1").encrypted


def test_why_a_table_is_not_opened_is_said_where_spark_names_a_condition_without_values():
    class Told(Exception):  # noqa: N818 - as Spark's own are called
        def __init__(self, condition, words=""):
            super().__init__(f"{words} of secret-value")
            self.getCondition = lambda: condition

    cases = {
        Told("TABLE_OR_VIEW_NOT_FOUND"): "knows no such table, catalog or format",
        Told("PATH_NOT_FOUND"): "sees no such path",
        Told(None, "java.lang.ClassNotFoundException: S3AFileSystem"): "s3a:// needs the jar hadoop-aws",
        Told("CAST_INVALID_INPUT"): r"Spark could not read the data \(Told\)",
        ValueError("secret-value"): r"Spark could not read the data \(ValueError\)",
    }
    for error, words in cases.items():
        with pytest.raises(DataError, match=words) as refused, readable():
            raise error
        assert "secret-value" not in str(refused.value)
