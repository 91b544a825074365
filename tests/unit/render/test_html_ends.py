"""Functions of one name from several files are told apart by the ends of their paths."""

from sassan.render.html.ends import ends


def test_a_name_that_only_one_file_has_needs_nothing():
    assert ends([("a", "d1/k.sass"), ("b", "d1/k.sass"), ("a", "d1/k.sass")]) == ["", "", ""]


def test_the_shortest_end_that_no_other_has_is_taken():
    files = ["x/d1/k.sass", "x/d2/k.sass", "x/d1/other.sass", "y/d1/k.sass"]
    assert ends([("a", file) for file in files]) == ["x/d1/k.sass", "d2/k.sass", "other.sass", "y/d1/k.sass"]


def test_a_path_that_ends_another_is_shown_whole():
    assert ends([("a", "k.sass"), ("a", "d1/k.sass"), ("a", "/k.sass")]) == ["k.sass", "d1/k.sass", "/k.sass"]


def test_paths_of_windows_have_parts_too():
    assert ends([("a", "C:\\d1\\k.sass"), ("a", "C:\\d2\\k.sass")]) == ["d1\\k.sass", "d2\\k.sass"]
