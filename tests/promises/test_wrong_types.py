"""What is of the wrong type is refused by an error of ours, in one sentence."""

import pytest

from groundling import Demonstration, Follower, GroundlingError
from groundling.errors import GroundlingError as Root
from tests.promises.making import demonstrations, make_follower
from tests.worlds import Line


def refused(call):
    with pytest.raises(GroundlingError) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_wrong_types_the_root_of_errors_is_exported():
    assert GroundlingError is Root


@pytest.mark.parametrize("text", [None, b"go left", 7, 1.5, [None], [b"go"], [["go"]], object()])
def test_wrong_types_of_texts(followers, text):
    refused(lambda: followers["plans"].follow(text, Line(), 1))


@pytest.mark.parametrize("requests", ["text", None, 5, [("go",)], [None], ["go"], [("go", Line())]])
def test_wrong_types_of_requests(followers, requests):
    refused(lambda: followers["plans"].follow_many(requests))


@pytest.mark.parametrize("environment", [None, 5, "world", object(), Line])
def test_wrong_types_of_environments(followers, environment):
    refused(lambda: followers["plans"].follow("go left", environment, 1))


@pytest.mark.parametrize("length", ["3", 1.5, -1, 0, 10**9])
def test_wrong_types_of_lengths(followers, length):
    refused(lambda: followers["plans"].follow("go left", Line(), 1, length=length))


@pytest.mark.parametrize("shown", [None, 5, "text", [None], ["go left"], [("go", Line(), 1, ())]])
def test_wrong_types_of_demonstrations(shown):
    refused(lambda: make_follower().fit(shown))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Demonstration(None, Line(), 1, ("left",)),
        lambda: Demonstration(b"go", Line(), 1, ("left",)),
        lambda: Demonstration("go", None, 1, ("left",)),
        lambda: Demonstration("go", Line(), [1], ("left",)),
        lambda: Demonstration("go", Line(), 1, "left"),
        lambda: Demonstration("go", Line(), 1, None),
        lambda: Demonstration("go", Line(), 1, ("left",), weight="much"),
    ],
)
def test_wrong_types_inside_demonstrations(wrong):
    refused(lambda: make_follower().fit([wrong(), *demonstrations()]))


def test_wrong_types_of_files(tmp_path):
    refused(lambda: Follower.load(tmp_path / "nowhere"))
    (tmp_path / "file").write_text("")
    refused(lambda: Follower.load(tmp_path / "file"))
