"""A cluster behind TLS: who is let in, what runs there, and workers that are killed."""

import os
import pickle
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from budget import PATIENCE, whole
from cli.shell import SAMPLES
from sassan.cli import main
from sassan.errors import UsageError
from sassan.executor import Certificates, Dask, dask

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
if shutil.which("openssl") is None:
    pytest.skip("openssl, which makes the certificates, is not installed", allow_module_level=True)


@dataclass(frozen=True)
class Place:
    """A cluster, its address, and the folder with its certificates."""

    cluster: Any
    folder: Path

    @property
    def address(self) -> str:
        return str(self.cluster.scheduler_address)

    def certificates(self, own: str = "own") -> Certificates:
        return Certificates(*(str(self.folder / f"{name}.pem") for name in ("authority", own, f"{own}-key")))


def openssl(folder: Path, *words: str) -> None:
    subprocess.run([shutil.which("openssl") or "", *words], cwd=folder, check=True, capture_output=True, timeout=PATIENCE)


def make_certificates(folder: Path) -> None:
    """Make two authorities, and a certificate signed by each."""
    for authority, name in (("authority", "own"), ("stranger", "strange")):
        new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
        openssl(folder, *new, "-x509", "-subj", f"/CN={authority}", "-keyout", f"{authority}-key.pem", "-out", f"{authority}.pem")
        openssl(folder, *new, "-subj", f"/CN={name}", "-keyout", f"{name}-key.pem", "-out", f"{name}.csr")
        signed = ("-CA", f"{authority}.pem", "-CAkey", f"{authority}-key.pem", "-CAcreateserial", "-days", "2")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("tls")
    make_certificates(folder)
    own, key = str(folder / "own.pem"), str(folder / "own-key.pem")
    files = {f"tls_{role}_{kind}": file for role in ("client", "scheduler", "worker") for kind, file in (("cert", own), ("key", key))}
    security = distributed.Security(require_encryption=True, tls_ca_file=str(folder / "authority.pem"), **files)
    with (
        pytest.MonkeyPatch.context() as patch,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, protocol="tls://", security=security, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        patch.setattr(dask, "_CONNECT", PATIENCE)
        yield Place(cluster, folder)


def slow_square(number: int) -> int:
    time.sleep(0.02)
    return number * number


def test_an_encrypted_cluster_runs_items_for_who_has_a_certificate(place: Place):
    assert place.address.startswith("tls://")
    with Dask(place.address, place.certificates()) as cluster:
        assert list(cluster.map(slow_square, range(5))) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("own", ["strange", "none"])
def test_who_has_no_certificate_of_the_authority_is_not_let_in(place: Place, own: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask, "_CONNECT", 1.0)
    with pytest.raises(UsageError) as caught:
        Dask(place.address, place.certificates(own))
    assert caught.value.code == ("scheduler" if own == "strange" else "certificates")


def test_certificates_that_are_none_are_refused(place: Place):
    for address, certificates in (
        (place.address, Certificates()),
        (place.address.replace("tls", "tcp"), place.certificates()),
        (place.address, Certificates(*[str(place.folder / "own.csr")] * 3)),
    ):
        with pytest.raises(UsageError) as caught:
            Dask(address, certificates)
        assert caught.value.code == "certificates"


def test_no_code_is_sent(place: Place):
    with Dask(place.address, place.certificates()) as cluster, pytest.raises((pickle.PicklingError, AttributeError)):
        list(cluster.map(lambda number: number, [1]))


def test_a_worker_that_joins_with_another_version_runs_nothing(place: Place, monkeypatch: pytest.MonkeyPatch):
    with Dask(place.address, place.certificates()) as cluster:
        monkeypatch.setattr("sassan.__version__", "99.0")  # what is asked of the workers comes too late to be refused at once
        with pytest.raises(UsageError) as caught:
            list(cluster.map(slow_square, [1]))
    assert caught.value.code == "cluster-version"


@whole("items go to an encrypted cluster above")
def test_a_batch_on_an_encrypted_cluster_writes_what_it_writes_here(place: Place, tmp_path: Path):
    files = [str(path) for path in sorted((SAMPLES / "sm_61").glob("s*.cuobjdump.sass"))[:3]]
    pem = place.certificates()
    words = ("--tls-ca-file", str(pem.authority), "--tls-cert", str(pem.own), "--tls-key", str(pem.key))
    dask_words = ("--executor", "dask", "--scheduler", place.address, *words)
    assert main.run(["batch", *files, "-o", str(tmp_path / "there"), *dask_words]) == 0
    assert main.run(["batch", *files, "-o", str(tmp_path / "here"), "--executor", "serial"]) == 0
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


@whole("seconds, of which most are waits for new workers")
def test_workers_that_are_killed_change_no_result(place: Place):
    done, killed = Event(), list[int]()
    draw = random.Random(5)

    def kill() -> None:
        while len(killed) < 2 and not done.wait(draw.uniform(0.2, 0.6)):
            workers = [nanny.pid for nanny in place.cluster.workers.values() if nanny.pid]
            if workers:
                killed.append(draw.choice(workers))
                with suppress(OSError):
                    os.kill(killed[-1], signal.SIGKILL)

    with Dask(place.address, place.certificates()) as cluster:
        killer = Thread(target=kill)
        killer.start()
        results = list(cluster.map(slow_square, range(100)))
        done.set()
        killer.join()
    assert killed != []
    assert results == [number * number for number in range(100)]
