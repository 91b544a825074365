from sassan.evolve.cache import Cache, key


def test_what_is_kept_is_found_again(monkeypatch, tmp_path):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path))
    Cache().put(key("a"), b"data\nand more")
    Cache().put_object(key("b"), {"one": 1})
    assert Cache().get(key("a")) == b"data\nand more"
    assert Cache().get_object(key("b")) == {"one": 1}


def test_a_damaged_entry_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path))
    Cache().put(key("a"), b"data")
    (path,) = tmp_path.rglob(key("a"))
    path.write_bytes(path.read_bytes()[:-1])
    assert Cache().get(key("a")) is None


def test_an_entry_that_is_not_an_object_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path))
    Cache().put(key("a"), b"[1]")
    Cache().put(key("b"), b"{")
    assert Cache().get_object(key("a")) is None
    assert Cache().get_object(key("b")) is None


def test_a_cache_that_is_not_used_keeps_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path))
    Cache(used=False).put(key("a"), b"data")
    assert list(tmp_path.iterdir()) == []
    assert Cache(used=False).get(key("a")) is None


def test_an_unusable_folder_is_not_an_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "file"))
    Cache().put(key("a"), b"data")
    assert Cache().get(key("a")) is None


def test_parts_of_a_key_do_not_run_together():
    assert len({key("ab", "c"), key("a", "bc"), key("abc"), key("abc", "")}) == 4
