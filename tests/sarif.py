"""The JSON schema of SARIF 2.1.0 for the tests, fetched from an npm package since no Python package contains it."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
import platformdirs
import pytest

_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
_MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
_SHA256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"
_SECONDS = 40


def assert_valid(log: Any) -> None:
    """Assert that a log is SARIF 2.1.0; skip with a message if the schema is not available."""
    schema = _schema()
    jsonschema.validators.validator_for(schema)(schema).validate(log)


@lru_cache(maxsize=1)
def _schema() -> Any:
    path = Path(platformdirs.user_cache_dir("sassan-tests")) / "sarif-2.1.0-rtm.5.json"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != _SHA256:
        _fetch(path)
    return json.loads(path.read_text("utf-8"))


def _fetch(path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the schema of SARIF needs npm to be fetched")
    with tempfile.TemporaryDirectory() as folder:
        quick = ("--fetch-retries=0", f"--fetch-timeout={_SECONDS}000")
        try:
            subprocess.run([npm, "pack", "--silent", *quick, _PACKAGE], cwd=folder, check=True, timeout=_SECONDS, capture_output=True)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"npm could not fetch {_PACKAGE}, which has the schema of SARIF: {error}")
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            member = packed.extractfile(_MEMBER)
            data = member.read() if member else b""
    assert hashlib.sha256(data).hexdigest() == _SHA256
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)
