"""Encryption and passwords of the exporter: the web configuration of the Prometheus exporters.

A web configuration file of a Prometheus exporter means the same here. A setting that is not
supported is an error.
"""

import hashlib
import json
import re
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from monitor.base.errors import ConfigError
from monitor.config import read_yaml

BCRYPT_HASH = re.compile(r"\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}")
MOST_BCRYPT_BYTES = 72  # of a password; bcrypt ignores the rest

# Which client certificates are required. Go's two other types do not verify certificates.
CLIENT_CERTIFICATES = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}


def _is_a_bcrypt_hash(value: str) -> str:
    if not BCRYPT_HASH.fullmatch(value):
        msg = "must be a bcrypt hash, as `htpasswd -nBC 10 NAME` prints it after the colon"
        raise ValueError(msg)
    return value


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


FileName = Annotated[str, StringConstraints(min_length=1)]


class Tls(_Strict):
    """The server's certificate, and the certificates that clients need."""

    cert_file: FileName
    key_file: FileName
    client_ca_file: FileName | None = None
    client_auth_type: Literal[
        "NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"
    ] = "NoClientCert"
    min_version: Literal["TLS12", "TLS13"] = "TLS12"

    @model_validator(mode="after")
    def _verifies_clients_with_an_authority(self) -> Self:
        if (self.client_auth_type == "NoClientCert") != (self.client_ca_file is None):
            msg = (
                "client_ca_file and a client_auth_type other than NoClientCert need each other; "
                "add the missing one or remove both"
            )
            raise ValueError(msg)
        return self


class WebConfig(_Strict):
    """The whole file; an empty file requires no encryption and no password."""

    tls_server_config: Tls | None = None
    basic_auth_users: Mapping[str, Annotated[str, AfterValidator(_is_a_bcrypt_hash)]] = {}


def load_web_config(path: Path | None) -> WebConfig:
    """Read and check a web configuration; without a file there is no encryption and no password.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not YAML, or breaks a rule; one line for each.
    """
    if path is None:
        return WebConfig()
    content = read_yaml(path, option="--web-config")
    try:
        config = WebConfig.model_validate({} if content is None else content)
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(path, content, error))) from None
    if config.basic_auth_users:
        _require_bcrypt(path)
    return config


def encryption(path: Path, tls: Tls) -> ssl.SSLContext:
    """Load the certificates that a web configuration names, relative to its own folder.

    Raises
    ------
    ConfigError
        If one cannot be read, or key and certificate are not a pair.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[tls.min_version]
    context.verify_mode = CLIENT_CERTIFICATES[tls.client_auth_type]
    named = f"cert_file {tls.cert_file}, key_file {tls.key_file}"
    try:
        # The empty password keeps OpenSSL from asking for one at the terminal.
        context.load_cert_chain(path.parent / tls.cert_file, path.parent / tls.key_file, lambda: "")
        if tls.client_ca_file:
            named = f"client_ca_file {tls.client_ca_file}"
            context.load_verify_locations(path.parent / tls.client_ca_file)
    except OSError as error:
        msg = (
            f"{path}: tls_server_config: {named}: cannot be used ({error}); name readable PEM "
            f"files without a password, relative to the folder of this file."
        )
        raise ConfigError(msg) from None
    return context


@dataclass(frozen=True)
class PasswordChecker:
    """Checks passwords, and recognises those that were correct before.

    bcrypt is slow by design, and Prometheus sends the same password all day. Only correct
    passwords are cached, so guesses cannot fill the cache. They are cached as digests, under a key
    that exists only in this object, and together with name and hash, so a changed user file takes
    effect at once.
    """

    most: int = 100
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(64), repr=False)
    _known: set[bytes] = field(default_factory=set, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def admits(self, users: Mapping[str, str], name: str, password: str) -> bool:
        """Say whether a password is correct; unknown names take as long as wrong passwords."""
        against = users.get(name) or next(iter(users.values()))
        seen = json.dumps([name, against, password]).encode()
        digest = hashlib.blake2b(seen, key=self._key).digest()
        if name in users and digest in self._known:
            return True
        with self._lock:  # one check at a time: guesses must not take the whole machine
            if not _is_right(password, against) or name not in users:
                return False
            if len(self._known) >= self.most:
                self._known.clear()
            self._known.add(digest)
            return True


def _is_right(password: str, against: str) -> bool:
    import bcrypt  # noqa: PLC0415 - an extra

    secret = password.encode()[: MOST_BCRYPT_BYTES + 1]
    right = bcrypt.checkpw(secret[:MOST_BCRYPT_BYTES], against.encode())
    return right and len(secret) <= MOST_BCRYPT_BYTES


def _require_bcrypt(path: Path) -> None:
    try:
        import bcrypt  # noqa: F401, PLC0415 - an extra
    except ImportError:
        msg = (
            f"{path}: basic_auth_users: needs the package bcrypt, which is not installed; "
            f"pip install 'calibration-monitor[web]'."
        )
        raise ConfigError(msg) from None


def _complaints(path: Path, content: Any, error: ValidationError) -> list[str]:
    if not isinstance(content, dict):
        return [f"{path}: must hold {' or '.join(WebConfig.model_fields)}, got {content!r:.60}."]
    return [_complaint(path, problem) for problem in error.errors(include_url=False)]


def _complaint(path: Path, problem: Any) -> str:
    location = problem["loc"]
    place = f"{path}: {'.'.join(map(str, location))}"
    if problem["type"] == "extra_forbidden":
        room = Tls if location[0] == "tls_server_config" else WebConfig
        return f"{place}: is not a known key; remove it, or use {', '.join(room.model_fields)}."
    if problem["type"] == "missing":
        return f"{place}: is missing; add it."
    rule = problem["msg"].removeprefix("Value error, ")
    # The value of a user may be a password in plain text, which no log should show.
    secret = location[0] == "basic_auth_users"
    got = "" if secret or problem["type"] == "value_error" else f", got {problem['input']!r}"
    return f"{place}: {rule}{got}; correct the value."
