"""Free sentences in homes of our own: most are answered as expected; questions change nothing."""

import pytest

from tests.home.own_words import cases, replies


@pytest.fixture(scope="module")
def found():
    return list(replies())


def test_own_words_are_mostly_replied_to_as_expected(found):
    assert len(found) == len(cases()) > 120
    assert sum(right for *_, right in found) / len(found) > 0.8


def test_own_words_that_ask_change_nothing(found):
    asked = [reply for case, reply, _ in found if case.row.get("kind") == "answer"]
    assert len(asked) > 20
    assert not any(each.changes for each in asked)
