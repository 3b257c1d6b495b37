"""Fonts: families that have the glyphs, or one sentence on what to install."""

import warnings

import pytest

from groundling import Demonstration, Follower, Search
from groundling.errors import GlyphWarning
from groundling.explain import figure as fonts
from tests.worlds import Line


def test_fonts_of_plain_text_are_the_usual_ones():
    assert fonts.families_for(["go left", "nach links", "влево"]) == (["DejaVu Sans"], "")


def test_fonts_are_added_for_what_is_missing(monkeypatch):
    known = {"DejaVu Sans": set("go"), "Aleph": set("א"), "Beth": set("אב")}
    monkeypatch.setattr(fonts, "_characters", lambda f: frozenset(map(ord, known.get(f, ""))))
    from matplotlib.font_manager import fontManager

    monkeypatch.setattr(fontManager, "get_font_names", lambda: list(known))
    assert fonts.families_for(["go", "אב"]) == (["DejaVu Sans", "Aleph", "Beth"], "")
    assert fonts.families_for(["go", "x"]) == (["DejaVu Sans"], "x")


def test_fonts_that_are_missing_are_one_warning_in_a_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(fonts, "_characters", lambda family: frozenset(range(128)))
    world = Line()
    shown = [
        Demonstration("左 go", world, 2, ("left",)),
        Demonstration("右 go", world, 1, ("right",)),
    ]
    follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown)
    plan = follower.follow("左 go", world, 2)
    with pytest.warns(GlyphWarning, match="Install a font") as told:
        plan.explain().save(tmp_path / "why.png")
    assert len(told) == 1
    assert "CJK" in str(told[0].message)


def test_fonts_of_a_picture_in_plain_letters_warn_of_nothing(tmp_path):
    world = Line()
    follower = Follower(parser="chain", search=Search(max_length=1)).fit(
        [Demonstration("go left", world, 2, ("left",))]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        follower.follow("go left", world, 2).explain().save(tmp_path / "why.png")
    assert (tmp_path / "why.png").stat().st_size > 1000
