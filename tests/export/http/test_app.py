"""The exporter behind a web configuration, beside a changing one, and asked for its health."""

import json
import os
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from ipaddress import ip_address
from pathlib import Path
from threading import Event
from time import sleep

import bcrypt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from prometheus_client.parser import text_string_to_metric_families

from monitor.base.errors import ConfigError
from monitor.evaluation.evaluation import Evaluation
from monitor.export.http import server
from monitor.export.http.app import Exporter
from monitor.export.http.auth import PasswordChecker, load_web_config
from monitor.export.http.server import serve
from monitor.export.snapshot_reader import with_most_outcomes
from monitor.store.store import Store
from tests.support.exporting import DRIFTING, HARD, VERDICT, exposition, fill, serving, write_day
from tests.support.servers import PATIENCE, get, listening, wait_for

# Of the password "correct horse", as htpasswd writes it, at the lowest cost there is.
HASH = "$2y$04$wSnZVd/F4aR2tSWpJRA6pOKEMzX94qtT02wvNqbaVOrzIRYCZWPxW"
OTHER_HASH = "$2b$04$lxEfoC7tYR/PMddEA1UIeeKLTOzShZz9lr3qKrmifJEllTa.Netgq"  # of "sesame"
LOGIN = "alice:correct horse"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a folder for one test."""
    return fill(tmp_path)


def certify(folder: Path, name: str, signer: str | None = None) -> None:
    """Write a key and a certificate for 127.0.0.1, signed by itself or by another one."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    called = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    issuer, issuer_key = called, key
    if signer:
        issuer = x509.load_pem_x509_certificate((folder / f"{signer}.crt").read_bytes()).subject
        loaded = serialization.load_pem_private_key((folder / f"{signer}.key").read_bytes(), None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        issuer_key = loaded
    loopback = x509.IPAddress(ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(issuer, called, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([loopback]), critical=False)
        .add_extension(x509.BasicConstraints(ca=not signer, path_length=None), critical=True)
        .sign(issuer_key, hashes.SHA256())
    )
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def web_config(folder: Path, **content: object) -> Path:
    """Write a web configuration."""
    path = folder / "web.yml"
    path.write_text(json.dumps(content))
    return path


def trusting(folder: Path, name: str = "server") -> ssl.SSLContext:
    """Trust one certificate and no other."""
    return ssl.create_default_context(cafile=folder / f"{name}.crt")


TLS = {"cert_file": "server.crt", "key_file": "server.key"}


@contextmanager
def answering(
    folder: Path, web: Path | None = None, *, config: Path | None = None
) -> Iterator[str]:
    """Serve in this process on a free port: host:port."""
    exporter = Exporter(config or folder / "monitor.yaml")
    running, _ = serve(exporter, address="127.0.0.1", port=0, web_path=web)
    try:
        yield f"127.0.0.1:{running.server_port}"
    finally:
        running.shutdown()
        running.server_close()


class TestHealth:
    """What /healthz says."""

    def test_is_ok_while_there_is_a_store(self, folder: Path) -> None:
        """With a sound configuration the answer is ok, also before the first run."""
        with answering(folder) as where:
            filled = get(where, "/healthz")
            shutil.rmtree(folder / "store")
            status, said = get(where, "/healthz")
            Store(str(folder / "store")).begin(datetime(2026, 3, 1, tzinfo=UTC))
            empty = get(where, "/healthz")

        assert filled == empty == (200, "ok\n")
        assert status == 503
        assert "is no store: neither store.json nor a result is there" in said

    def test_results_that_are_gone_are_no_empty_store(self, folder: Path) -> None:
        """A scrape fails, and a restart of the exporter does not help."""
        with answering(folder) as where:
            filled = get(where, "/metrics")[0]
            (folder / "store").rename(folder / "elsewhere")
            gone = get(where, "/metrics")
            Store(str(folder / "store")).begin(datetime(2026, 3, 1, tzinfo=UTC))
            forgotten = get(where, "/metrics")[1]
        with answering(folder) as where:
            again = get(where, "/metrics")[0]

        assert (filled, gone[0]) == (200, 500)
        assert "is no store" in gone[1]
        assert 'calibration_model_results_readable{model="fraud"} 0' in forgotten
        assert again == 200

    def test_names_what_is_wrong(self, folder: Path) -> None:
        """A broken configuration, and a store that is a file, are 503 with the message."""
        config = folder / "monitor.yaml"
        sound = config.read_text()
        with answering(folder) as where:
            config.write_text(sound.replace('"store": "store"', '"store": "store", "shop": 1'))
            broken = get(where, "/healthz")
            config.write_text(sound.replace('"store": "store"', '"store": "monitor.yaml"'))
            no_folder = get(where, "/healthz")

        assert broken[0] == no_folder[0] == 503
        assert broken[1].startswith("monitor.yaml: shop: is not a known key")
        assert no_folder[1].startswith("store: monitor.yaml is a file; name a folder")
        assert str(folder) not in broken[1] + no_folder[1]


class TestPaths:
    """What is where."""

    def test_other_paths_and_methods(self, folder: Path) -> None:
        """The root points to the other paths; unknown paths are 404, other methods 405."""
        with answering(folder) as where:
            assert get(where, "/")[0] == 200
            assert "/metrics" in get(where, "/")[1]
            assert get(where, "/metric")[0] == 404
            assert get(where, "/metrics", method="POST")[0] == 405
            with connected(where) as client:
                client.sendall(b"HEAD /healthz HTTP/1.1\r\n\r\n")
                told = b"".join(iter(lambda: client.recv(1000), b""))

        head, _, body = told.partition(b"\r\n\r\n")
        assert (head[:15], body) == (b"HTTP/1.0 200 OK", b"")
        assert b"Content-Length: 3" in head  # of the "ok" and line end that GET gives


class TestConfiguration:
    """The configuration is as it is now, not as it was at the start."""

    def test_a_broken_configuration_fails_the_scrape(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """No result is served under a configuration that is no more; mended, all is as before."""
        config = folder / "monitor.yaml"
        sound = config.read_text()
        with answering(folder) as where:
            before = get(where)
            config.write_text(sound + "]")
            broken = get(where)
            config.unlink()
            gone = get(where)
            config.write_text(sound)
            after = get(where)

        assert before == after == (200, exposition(folder))
        assert broken[0] == gone[0] == 500
        assert broken[1].startswith("monitor.yaml, line ")
        assert "does not exist" in gone[1]
        assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]

    def test_an_invalid_model_is_told_and_its_results_stay(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """One wrong key of a model moves one gauge; the message is a line of the log."""
        config = folder / "monitor.yaml"
        content = json.loads(config.read_text())
        with answering(folder) as where:
            before = get(where)[1]
            content["models"]["fraud"]["windows"] = [7]
            config.write_text(json.dumps(content))
            status, after = get(where)
            healthy = get(where, "/healthz")

        gauge = 'calibration_model_config_valid{model="fraud"}'
        assert (status, healthy) == (200, (200, "ok\n"))
        assert f"{gauge} 1.0\n" in before
        expected = before.replace(f"{gauge} 1.0", f"{gauge} 0.0")
        assert sorted(after.splitlines()) == sorted(expected.splitlines())
        (record,) = caplog.records
        assert record.message.startswith(f"{config}: models.fraud.windows: must increase")


class TestMostSegments:
    """How many segments are exported."""

    def test_those_with_most_outcomes_stay(self) -> None:
        """Beside `all` the fullest segments stay, of equal ones the first by name."""
        outcomes = {"all": 9, "c": 5, "a": 2, "d": 3, "b": 2}
        many = [replace(HARD, segment=name, matched=n) for name, n in outcomes.items()]
        kept, left_out = with_most_outcomes(many, 3)

        assert [e.segment for e in kept] == ["all", "c", "a", "d"]
        assert left_out == 1
        assert with_most_outcomes(many, 4) == (many, 0)
        assert with_most_outcomes(many, 0) == (many[:1], 4)

    def test_the_fullest_window_counts(self) -> None:
        """A segment with few outcomes today and many this month is not a small one."""
        windows = [
            replace(HARD, segment="a", window_days=1, matched=1),
            replace(HARD, segment="a", window_days=28, matched=70),
            replace(HARD, segment="b", window_days=1, matched=6),
            replace(HARD, segment="b", window_days=28, matched=60),
        ]

        assert with_most_outcomes(windows, 1) == (windows[:2], 1)

    def test_the_exporter_says_how_many_are_left_out(self, folder: Path) -> None:
        """The option reaches the scrape, and the gauge counts what it left out."""
        small = [replace(HARD, segment=name, matched=n) for n, name in enumerate("abc")]
        write_day(folder, HARD, *small)
        with serving(folder, "--most-segments", "2") as (_, where):
            text = get(where)[1]
        families = {f.name: f.samples for f in text_string_to_metric_families(text)}
        told = {
            s.labels["segment"]
            for s in families["calibration_ece_ratio"]
            if s.labels["model"] == "fraud"
        }

        assert told == {"all", "b", "c"}
        assert 'calibration_left_out{model="fraud",of="segments"} 1.0\n' in text
        assert 'calibration_left_out{model="well",of="segments"} 0.0\n' in text

    def test_an_open_drift_is_told_of_any_segment(self, folder: Path) -> None:
        """A drift of a segment that is left out may page, so its verdict is told; others' are not.

        It stays told on a day that cannot be judged, because the drift is still open.
        """
        write_day(folder, HARD, *(replace(HARD, segment=s, matched=n) for n, s in enumerate("abc")))
        open_yet = replace(DRIFTING, segment="a", state="insufficient_data")
        verdicts = [VERDICT, open_yet, *(replace(VERDICT, segment=s) for s in "bc")]
        Store(str(folder / "store")).write_verdicts("fraud", VERDICT.day, verdicts, basis="")
        text = Exporter(folder / "monitor.yaml", most_segments=1).text().decode()
        families = {f.name: f.samples for f in text_string_to_metric_families(text)}

        def told(gauge: str) -> set[str]:
            return {s.labels["segment"] for s in families[gauge] if s.labels["model"] == "fraud"}

        assert 'calibration_left_out{model="fraud",of="segments"} 2.0\n' in text
        assert told("calibration_verdict") == {"all", "a", "c"}
        assert told("calibration_drift_started_timestamp_seconds") == {"a"}
        assert told("calibration_ece_ratio") == {"all", "c"}


class TestMemory:
    """What is remembered changes nothing."""

    def test_a_changed_file_is_read_again(self, folder: Path) -> None:
        """New bytes under the old name, size and time are exported on the next scrape."""
        exporter = Exporter(folder / "monitor.yaml")
        day = folder / "store" / "evaluations" / "fraud" / f"{HARD.day}.arrows.zst"
        write_day(folder, replace(HARD, predicted=123_456))
        times = day.stat().st_atime_ns, day.stat().st_mtime_ns
        before = exporter.text().decode()
        write_day(folder, replace(HARD, predicted=123_457))
        os.utime(day, ns=times)
        after = exporter.text().decode()

        assert "} 123456.0\n" in before
        assert "} 123456.0\n" not in after
        assert "} 123457.0\n" in after
        assert after == exposition(folder)


class TestTogether:
    """The verdict beside an evaluation is as new as the evaluation."""

    @pytest.mark.parametrize(
        "newer",
        [
            replace(HARD, day=HARD.day + timedelta(days=1), predicted=77),
            replace(HARD, window_days=1, predicted=77, known_at=HARD.known_at + timedelta(days=1)),
        ],
        ids=["the next day", "later outcomes of the same day"],
    )
    def test_an_evaluation_waits_for_its_verdict(self, folder: Path, newer: Evaluation) -> None:
        """While a run has not yet judged what it evaluated, what was there before is shown."""
        exporter, store = Exporter(folder / "monitor.yaml"), Store(str(folder / "store"))
        before = replace(HARD, day=HARD.day - timedelta(days=1), window_days=1, predicted=66)
        write_day(folder, before)
        verdict = replace(VERDICT, day=before.day, known_at=before.known_at)
        if newer.day == VERDICT.day:
            verdict = VERDICT
        store.write_verdicts("fraud", verdict.day, [verdict], basis="")
        write_day(folder, newer)
        during = exporter.text().decode()
        judged = replace(VERDICT, day=newer.day, known_at=newer.known_at)
        store.write_verdicts("fraud", newer.day, [judged], basis="")
        after = exporter.text().decode()

        assert ("} 77.0\n" in during, "} 77.0\n" in after) == (False, True)
        assert ("} 66.0\n" in during, 'calibration_verdict{model="fraud"' in during) == (True, True)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Collect the passwords that bcrypt is asked about."""
    passwords: list[bytes] = []
    check = bcrypt.checkpw

    def checkpw(password: bytes, against: bytes) -> bool:
        passwords.append(password)
        return check(password, against)

    monkeypatch.setattr(bcrypt, "checkpw", checkpw)
    return passwords


class TestUsers:
    """Basic authentication."""

    def test_protects_every_path(self, folder: Path) -> None:
        """Without name and password nothing is answered, as with Prometheus' own exporters."""
        web = web_config(folder, basic_auth_users={"alice": HASH})
        with answering(folder, web) as where:
            refused = [get(where, path) for path in ("/metrics", "/healthz", "/", "/x")]
            wrong = [
                get(where, login=login)
                for login in ("alice:wrong", "bob:correct horse", "alice:", ":correct horse")
            ]
            too_long = get(where, login="alice:" + 100 * "a")

            assert get(where, "/healthz", login=LOGIN) == (200, "ok\n")
            assert get(where, login=LOGIN) == (200, exposition(folder))
        assert refused == 4 * [(401, "Unauthorized\n")]
        assert wrong == 4 * [(401, "Unauthorized\n")]
        assert too_long == (401, "Unauthorized\n")

    def test_a_user_who_left_is_refused(self, folder: Path) -> None:
        """The file counts as it is now; if it is broken, nobody is let in."""
        web = web_config(folder, basic_auth_users={"alice": HASH})
        with answering(folder, web) as where:
            before = get(where, login=LOGIN)[0]
            web_config(folder, basic_auth_users={"bob": HASH})
            left = get(where, login=LOGIN)[0]
            web.write_text("basic_auth_users: [")
            broken = get(where, login="bob:correct horse")[0]

        assert (before, left, broken) == (200, 401, 500)

    def test_a_right_password_is_checked_once(self, checked: list[bytes]) -> None:
        """Another password, user or hash is checked anew, and so is each wrong guess."""
        checker, users = PasswordChecker(), {"alice": HASH, "twin": HASH, "bob": OTHER_HASH}
        asked = [
            ("alice", "correct horse", True, 1),
            ("alice", "correct horse", True, 1),
            ("alice", "wrong", False, 2),
            ("alice", "wrong", False, 3),
            ("twin", "correct horse", True, 4),
            ("bob", "correct horse", False, 5),
            ("carol", "correct horse", False, 6),
            ("carol", "correct horse", False, 7),
            ("alice", "correct horse", True, 7),
        ]
        for name, password, admitted, checks in asked:
            assert checker.admits(users, name, password) is admitted
            assert len(checked) == checks

        assert not checker.admits({"alice": HASH}, "twin", "correct horse")
        assert not checker.admits({"alice": OTHER_HASH}, "alice", "correct horse")
        assert checker.admits({"alice": OTHER_HASH}, "alice", "sesame")


class TestEncryption:
    """TLS."""

    def test_a_renewed_certificate_is_shown(self, folder: Path) -> None:
        """A certificate that was replaced on disk is the one of the next connection."""
        certify(folder, "server")
        web = web_config(folder, tls_server_config=TLS)
        with answering(folder, web) as where:
            old = trusting(folder)
            assert get(where, secure=old)[0] == 200
            certify(folder, "server")
            with pytest.raises(ssl.SSLCertVerificationError):
                get(where, secure=old)
            assert get(where, secure=trusting(folder))[0] == 200

    def test_asks_for_the_certificates_of_clients(self, folder: Path) -> None:
        """With RequireAndVerifyClientCert only who holds a certificate of the authority gets in."""
        for name, signer in (("authority", None), ("server", None), ("client", "authority")):
            certify(folder, name, signer)
        demanding = {
            **TLS,
            "client_ca_file": "authority.crt",
            "client_auth_type": "RequireAndVerifyClientCert",
            "min_version": "TLS13",
        }
        web = web_config(folder, tls_server_config=demanding)
        known, stranger = trusting(folder), trusting(folder)
        known.load_cert_chain(folder / "client.crt", folder / "client.key")
        stranger.load_cert_chain(folder / "server.crt", folder / "server.key")
        outdated = trusting(folder)
        outdated.load_cert_chain(folder / "client.crt", folder / "client.key")
        outdated.maximum_version = ssl.TLSVersion.TLSv1_2
        with answering(folder, web) as where:
            assert get(where, secure=known)[0] == 200
            for refused in (stranger, trusting(folder), outdated):
                with pytest.raises((ssl.SSLError, ConnectionError)):
                    get(where, secure=refused)

    def test_prometheus_scrapes_it(self, folder: Path) -> None:
        """A real Prometheus with certificate and password finds the exporter up."""
        certify(folder, "server")
        web = web_config(folder, tls_server_config=TLS, basic_auth_users={"alice": HASH})
        with answering(folder, web) as where:
            job = {
                "job_name": "calibration-monitor",
                "scheme": "https",
                "tls_config": {"ca_file": str(folder / "server.crt")},
                "basic_auth": {"username": "alice", "password": "correct horse"},
                "static_configs": [{"targets": [where]}],
            }
            settings = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
            (folder / "prometheus.yml").write_text(json.dumps(settings))
            call = (
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
            )
            with listening(folder, "prometheus", *call) as (program, at):
                question = "/api/v1/query?query=up%20%3D%3D%201"

                def is_up() -> bool | None:
                    status, text = get(at, question)
                    return (status == 200 and bool(json.loads(text)["data"]["result"])) or None

                assert wait_for(program, is_up)


class TestConnections:
    """Clients that are slow or too many do not stop the exporter."""

    # Nothing, and the head of a handshake that announces 500 bytes.
    @pytest.mark.parametrize("begin", [b"", b"\x16\x03\x01\x01\xf4"])
    def test_a_request_that_drips_is_cut_off(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, begin: bytes
    ) -> None:
        """A byte now and then keeps no connection open, also before encryption has begun."""
        monkeypatch.setattr(server, "REQUEST_WITHIN", 1.0)
        certify(folder, "server")
        web = web_config(folder, tls_server_config=TLS) if begin else None
        with answering(folder, web) as where, connected(where) as client:
            client.sendall(begin)

            assert cut_off(client)

    def test_there_is_a_limit(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One connection too many is closed at once; when another has ended, there is room."""
        monkeypatch.setattr(server, "MOST_CONNECTIONS", 2)
        monkeypatch.setattr(server, "IDLE_AFTER", 600.0)
        with answering(folder) as where, connected(where), connected(where) as second:
            with connected(where) as third:
                assert third.recv(1) == b""
            second.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert second.recv(12) == b"HTTP/1.0 200"
            while second.recv(1000):
                pass
            assert wait_until(lambda: scraped(where), 200) == 200  # its thread may not have ended

    def test_one_client_leaves_room_for_others(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An address with too many connections is refused in words; another one is served."""
        monkeypatch.setattr(server, "MOST_OF_A_CLIENT", 2)
        monkeypatch.setattr(server, "IDLE_AFTER", 600.0)
        with answering(folder) as where, connected(where), connected(where):
            with connected(where) as third:
                refusal = b"".join(iter(lambda: third.recv(1000), b""))
            with connected(where, source="127.0.0.2") as other:
                other.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
                assert other.recv(12) == b"HTTP/1.0 200"

        assert refusal.startswith(b"HTTP/1.0 429 Too Many Requests\r\n")
        assert refusal.endswith(
            b"this address has too many connections open; close some, then try again\n"
        )

    def test_a_scrape_gets_in_beside_slow_connections(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of an address that is full, connections without a request make room for one with it."""
        monkeypatch.setattr(server, "REQUEST_WITHIN", 600.0)  # or they would end by themselves
        monkeypatch.setattr(server, "IDLE_AFTER", 0.5)
        monkeypatch.setattr(server, "MOST_OF_A_CLIENT", 5)
        with answering(folder) as where, ExitStack() as slow:
            for _ in range(10):
                with suppress(OSError):  # it may be refused
                    slow.enter_context(connected(where)).sendall(b"GET / HTTP/1.1\r\nX-Slow: ")

            assert wait_until(lambda: scraped(where), 200) == 200

    def test_a_connection_with_a_request_is_not_closed_for_another(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only what is still waited for makes room, however long a response takes."""
        monkeypatch.setattr(server, "MOST_OF_A_CLIENT", 1)
        asked, goes_on = Event(), Event()

        def look(_: Exporter) -> None:
            asked.set()
            goes_on.wait(PATIENCE)

        monkeypatch.setattr(Exporter, "look", look)
        with answering(folder) as where, connected(where) as first:
            first.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            assert asked.wait(PATIENCE)
            monkeypatch.setattr(server, "IDLE_AFTER", 0.0)
            with connected(where) as second:
                assert second.recv(12) == b"HTTP/1.0 429"
            goes_on.set()
            assert first.recv(12) == b"HTTP/1.0 200"


def scraped(where: str) -> int:
    """Scrape, and give the status; 0 if the connection was closed."""
    with suppress(OSError, HTTPException):
        return get(where)[0]
    return 0


def wait_until(ask: Callable[[], int], wanted: int) -> int:
    """Ask until the answer is the one that is wanted, or patience ends; give the last."""
    for _ in range(PATIENCE * 10):
        found = ask()
        if found == wanted:
            break
        sleep(0.1)
    return found


@contextmanager
def connected(where: str, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """Connect without a request."""
    host, port = where.split(":")
    with socket.create_connection(
        (host, int(port)), timeout=PATIENCE, source_address=(source, 0)
    ) as client:
        yield client


def cut_off(client: socket.socket) -> bool:
    """Send a byte now and then until the server hangs up, or patience ends."""
    client.settimeout(0.1)
    for _ in range(PATIENCE * 10):
        with suppress(TimeoutError):
            try:
                client.sendall(b"x")
                if client.recv(1) == b"":
                    return True
            except ConnectionError:
                return True
    return False


class TestWebConfig:
    """What is refused in a web configuration, and how."""

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            pytest.param("tls: 1", "tls: is not a known key; remove it, or use", id="key"),
            pytest.param("[]", "must hold tls_server_config or basic_auth_users", id="list"),
            pytest.param(
                "tls_server_config: {cert_file: a, key_file: b, cipher_suites: []}",
                "tls_server_config.cipher_suites: is not a known key; remove it, or use cert_file",
                id="inner key",
            ),
            pytest.param(
                "tls_server_config: {cert_file: a}",
                "tls_server_config.key_file: is missing; add it.",
                id="no key file",
            ),
            pytest.param(
                "tls_server_config: {cert_file: a, key_file: b, min_version: TLS10}",
                "tls_server_config.min_version: Input should be 'TLS12' or 'TLS13', got 'TLS10'",
                id="old version",
            ),
            pytest.param(
                "tls_server_config: {cert_file: a, key_file: b, client_auth_type: Perhaps}",
                "got 'Perhaps'; correct the value.",
                id="unknown way",
            ),
            pytest.param(
                "tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}",
                "client_ca_file and a client_auth_type other than NoClientCert need each other",
                id="an authority for nothing",
            ),
            pytest.param(
                "basic_auth_users: {alice: sesame}",
                "basic_auth_users.alice: must be a bcrypt hash",
                id="no hash",
            ),
            pytest.param("a: b: c", "web.yml, line 1, column 5: is not valid YAML", id="no YAML"),
        ],
    )
    def test_refuses(self, tmp_path: Path, text: str, complaint: str) -> None:
        """A rule that is broken is named with file, key and remedy; no password is repeated."""
        path = tmp_path / "web.yml"
        path.write_text(text)
        with pytest.raises(ConfigError) as refused:
            load_web_config(path)

        assert complaint in str(refused.value)
        assert str(refused.value).startswith(str(path))
        assert "sesame" not in str(refused.value)

    def test_certificates_must_be_there_at_the_start(self, folder: Path) -> None:
        """A certificate or key that cannot be read is an error of the call that names it."""
        certify(folder, "server")
        (folder / "server.key").write_text("damaged")
        web = web_config(folder, tls_server_config=TLS)
        with (
            pytest.raises(ConfigError, match=r"cert_file server\.crt.*cannot be used"),
            answering(folder, web),
        ):
            pass

    def test_a_store_that_is_a_file_stops_the_start(self, folder: Path) -> None:
        """A wrong configuration is an error of the call, not of every scrape to come."""
        config = folder / "monitor.yaml"
        config.write_text(config.read_text().replace('"store": "store"', '"store": "monitor.yaml"'))
        with pytest.raises(ConfigError, match="is a file; name a folder"), answering(folder):
            pass
