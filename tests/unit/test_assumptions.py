"""Tests of the kinds of assumptions."""

import json
import pickle

from sassan.assumptions import AssumptionStatus, counted, kind_of, kinds, proved, published


def test_a_plain_text_is_assumed_and_others_are_their_text():
    assert (kind_of("a"), kind_of(proved("a")), proved("a")) == (AssumptionStatus.ASSUMED, AssumptionStatus.PROVED, "a")
    assert json.dumps([published("a")]) == '["a"]'


def test_the_kind_reaches_another_process():
    copy = pickle.loads(pickle.dumps(published("a")))  # noqa: S301 - written above
    assert (copy, kind_of(copy)) == ("a", AssumptionStatus.PUBLISHED)


def test_kinds_are_counted_in_a_fixed_order():
    texts = ("a", published("b"), proved("c"), "d")
    assert kinds(texts) == ["assumed", "published", "proved", "assumed"]
    assert counted(texts) == "4 (1 proved, 1 published, 2 assumed)"
