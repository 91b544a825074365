"""What an extra stands for is said in a command that works where no index has sassan."""

from importlib import metadata

import pytest

from sassan.extras import install


def test_the_command_names_the_packages_of_the_extra(monkeypatch: pytest.MonkeyPatch):
    lines = ["lark>=1.2", "b>=2; extra == 'one'", "c; (sys_platform == 'linux') and extra == \"one\"", "d; extra == 'ones'"]
    monkeypatch.setattr(metadata, "requires", lambda _: lines)
    assert install.__wrapped__("one") == "pip install 'b>=2' 'c'"


@pytest.mark.parametrize("extra", ["cubin", "dask", "evolve", "measure", "numba", "nvrtc", "plots", "triton"])
def test_every_extra_that_a_message_names_is_known(extra: str):
    assert install(extra).startswith("pip install '")


def test_without_metadata_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    def missing(_: str) -> list[str]:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "requires", missing)
    assert install.__wrapped__("cubin") == "install sassan with its extra 'cubin'"
