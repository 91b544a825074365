"""What is no listing is refused with its own code, and says what would be one."""

import io
import os

import pytest

from sassan.errors import InputError, UsageError
from sassan.frontend import load, read
from sassan.source import Source
from unit.frontend.listings import SAMPLES, cuobjdump


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty-input"),
        (" \n\t\r\n", "empty-input"),
        ("\ufeff", "empty-input"),
        ("\tcode for sm_61\0", "binary-input"),
        ("int main(void) { return 0; }\n", "unknown-input"),
        (".version 8.8\n.target sm_61\n.address_size 64\n", "no-function"),
        ("\tcode for sm_61\n", "no-function"),
        ('\t.headerflags\t@"EF_CUDA_SM61"\n\t.section\t.nv.info,"",@"SHT_CUDA_INFO"\n', "no-function"),
        ("\t\tFunction : k\n        /*0000*/ EXIT ;\n\t\t.....\n", "no-architecture"),
        ("\tcode for sm_61\n\t\tFunction : k\n\t\t.....\n", "truncated"),
        ("\tcode for sm_61\n        /*0008*/ EXIT ;\n", "syntax"),
    ],
)
def test_every_kind_of_input_has_its_code(text, code):
    with pytest.raises(InputError) as caught:
        read(Source("t", text))
    assert caught.value.code == code


def test_a_sample_of_another_kind_is_refused_with_a_hint():
    with pytest.raises(InputError) as caught:
        read(load(str(SAMPLES / "kernels" / "saxpy.cu")))
    assert "cuobjdump -sass" in (caught.value.hint or "")


def test_an_unknown_override_is_an_error_of_usage():
    with pytest.raises(UsageError) as caught:
        read(Source("t", cuobjdump("EXIT ;")), arch="sm_35")
    assert caught.value.code == "unsupported-architecture"


def test_the_wrong_architecture_is_noticed():
    with pytest.raises(InputError) as caught:
        read(Source("t", cuobjdump("EXIT ;", arch="sm_75")), arch="sm_61")
    assert caught.value.code == "missing-instructions"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"abc\x00def", "binary-input"),
        (b"abc\xff\xfe", "not-utf8"),
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path, data, code):
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert caught.value.code == code


def test_a_file_that_does_not_exist_is_missing(tmp_path):
    with pytest.raises(InputError) as caught:
        load(str(tmp_path / "none.sass"))
    assert caught.value.code == "missing-file"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError) as caught:
        load(str(tmp_path))
    assert caught.value.code == "is-directory"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    path = tmp_path / "x"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert caught.value.code == "no-permission"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_name_that_no_file_can_have_is_refused(path):
    with pytest.raises(InputError) as caught:
        load(path)
    assert caught.value.code == "unreadable"


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert caught.value.code == "too-large"


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(cuobjdump("EXIT ;").encode())))
    assert load("-") == Source("-", cuobjdump("EXIT ;"))
