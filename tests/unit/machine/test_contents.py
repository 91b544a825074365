"""What several contents of memory have in common."""

from sassan.machine.contents import Contents, KnownBytes, common


def contents(name: str, *parts: tuple[int, bytes]) -> Contents:
    return Contents(tuple(KnownBytes(*part) for part in parts), name)


def test_common_bytes_are_those_that_are_equal_in_all():
    both = common([contents("a", (0, b"0123456789"), (32, b"ab")), contents("b", (4, b"4567"), (8, b"xx"), (32, b"ab"))])
    assert both is not None
    assert both.parts == (KnownBytes(4, b"4567"), KnownBytes(32, b"ab"))


def test_nothing_is_common_with_unknown_memory():
    assert common([contents("a", (0, b"01")), None]) is None


def test_equal_contents_are_common():
    one = contents("a", (0, b"01"))
    assert common([one, contents("a", (0, b"01"))]) == one


def test_contents_in_common_are_named_by_all():
    first, second, third = contents("a", (0, b"01")), contents("b", (0, b"01")), contents("c", (0, b"01"))
    assert common([first, second]) == common([second, first])
    assert common([first, second]) != common([first, third])
