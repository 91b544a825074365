"""`launches.toml`: what is read, and what is refused, with the key that is wrong."""

import pytest

from sassan.errors import InputError
from sassan.launches import Argument, Buffer, Launches, ProgramDevice, ProgramLaunch
from sassan.launches import parse as parse_launches
from sassan.launches import read as read_launches

CODE = "sha256:" + "0123456789abcdef" * 4
WHOLE = f"""
schema = 1
program = "./daxpy"
arguments = ["100"]
status = 1
cut = "after 60 s"
notes = ["a note"]
[device]
name = "NVIDIA GeForce RTX 3070"
arch = "sm_86"
sms = 46
memory = 8589934592
[[launch]]
kernel = "_Z5daxpyidPdS_"
grid = [16384, 1, 1]
block = [256, 1, 1]
shared = 16
params = [{{offset = 0, size = 4, value = "0x00400000"}},
  {{offset = 8, size = 8, value = "0x10", pointer = {{buffer = 2, offset = 1, size = 9}}}}]
count = 100
code = "{CODE}"
stream = 2
cluster = [2, 1, 1]
cooperative = true
"""
LEAST = '[[launch]]\nkernel = "k"\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\n'


def test_every_key_is_read():
    arguments = (Argument(0, 4, 0x400000), Argument(8, 8, 16, Buffer(2, 1, 9)))
    launch = ProgramLaunch("_Z5daxpyidPdS_", (16384, 1, 1), (256, 1, 1), 16, arguments, 100, CODE, 2, (2, 1, 1), cooperative=True)
    device = ProgramDevice("NVIDIA GeForce RTX 3070", "sm_86", 46, 8 * 1024**3)
    assert parse_launches("x", WHOLE) == Launches((launch,), "./daxpy", ("100",), device, 1, "after 60 s", ("a note",))


def test_a_kernel_with_grid_and_block_is_enough():
    assert parse_launches("x", LEAST).launches == (ProgramLaunch("k", (1, 1, 1), (1, 1, 1), arguments=None),)


def test_unknown_arguments_are_not_the_same_as_none():
    assert parse_launches("x", LEAST + "params = []\n").launches[0].arguments == ()


def test_an_argument_is_little_endian():
    assert Argument(0, 4, 0x01020304).data == b"\x04\x03\x02\x01"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "x.toml: x: unknown key"),
        ("schema = 2", "x.toml: schema: is of a newer sassan"),
        ("launch = 3", "x.toml: launch: must be an array of tables"),
        ("[[launch]]", "x.toml: launch[0].block: is missing"),
        (LEAST.replace('kernel = "k"', ""), "x.toml: launch[0].kernel: is missing"),
        (LEAST.replace("grid = [1, 1, 1]", "grid = [1, 1]"), "x.toml: launch[0].grid: must be three whole numbers"),
        (LEAST.replace("grid = [1, 1, 1]", "grid = [0, 1, 1]"), "x.toml: launch[0].grid: has the extent 0"),
        (LEAST.replace("grid = [1, 1, 1]", "grid = [1, 65536, 1]"), "x.toml: launch[0].grid: has the extent 65536"),
        (LEAST.replace("grid = [1, 1, 1]", "grid = [true, 1, 1]"), "x.toml: launch[0].grid: has the extent True"),
        (LEAST.replace("block = [1, 1, 1]", "block = [64, 64, 1]"), "x.toml: launch[0].block: has 4096 threads"),
        (LEAST + "count = 0", "x.toml: launch[0].count: must be a whole number, 1 or more"),
        (LEAST + "shared = -1", "x.toml: launch[0].shared: must be a whole number from 0"),
        (LEAST + 'code = "sha256:00"', 'x.toml: launch[0].code: must be "sha256:" and 64 hexadecimal digits'),
        (LEAST + "colour = 1", "x.toml: launch[0].colour: unknown key"),
        (LEAST + "params = 1", "x.toml: launch[0].params: must be an array of tables"),
        (LEAST + 'params = [{offset = 0, size = 0, value = "0x0"}]', "x.toml: launch[0].params[0].size: must be a whole number from 1"),
        (LEAST + 'params = [{offset = 0, size = 1, value = "0x100"}]', "x.toml: launch[0].params[0].value: is '0x100'"),
        (LEAST + 'params = [{offset = 0, size = 1, value = "9"}]', "x.toml: launch[0].params[0].value: is '9'"),
        (LEAST + 'params = [{offset = 0, size = 1, value = "0x0", name = "a b"}]', "x.toml: launch[0].params[0].name: is 'a b'"),
        (LEAST + 'params = [{offset = 40000, size = 1, value = "0x0"}]', "x.toml: launch[0].params[0].offset: must be a whole number"),
        (
            LEAST + 'params = [{offset = 0, size = 8, value = "0x0"}, {offset = 4, size = 4, value = "0x0"}]',
            "x.toml: launch[0].params: has two values for the byte at 4",
        ),
        (
            LEAST + 'params = [{offset = 0, size = 8, value = "0x0", pointer = {buffer = 0, offset = 0, size = 1}}]',
            "x.toml: launch[0].params[0].pointer.buffer: must be a whole number, 1 or more",
        ),
        ('[device]\nname = "x"\narch = "gfx90a"\nsms = 1\nmemory = 1', "x.toml: device.arch: is 'gfx90a'"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(text: str, said: str):
    with pytest.raises(InputError) as caught:
        parse_launches("x.toml", text)
    assert caught.value.code == "launches-value"
    assert caught.value.message.startswith(said)


@pytest.mark.parametrize("text", ["[[launch", "\x00", "x = " + "[" * 10_000, "count = " + "9" * 10_000])
def test_what_is_no_toml_is_refused_in_the_same_way(text: str):
    with pytest.raises(InputError) as caught:
        parse_launches("x.toml", text)
    assert caught.value.code == "launches-syntax"


def test_a_message_never_repeats_an_endless_value():
    with pytest.raises(InputError) as caught:
        parse_launches("x.toml", LEAST + f'params = [{{offset = 0, size = 1, value = "0x{"0" * 100_000}"}}]')
    assert len(caught.value.message) < 300


def test_a_file_that_is_not_there_or_is_no_text_is_refused(tmp_path):
    for data in (None, b"\xff\xfe"):
        path = tmp_path / "x.toml"
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            read_launches(str(path))
        assert caught.value.code == ("launches-file" if data is None else "launches-syntax")
