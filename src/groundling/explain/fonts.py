"""Fonts for pictures: families that together have every glyph of a text, or what to install."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from groundling.errors import GlyphWarning

__all__ = ["families_for", "fonts_for", "quiet_glyphs"]

_MOST_SHOWN = 8


def families_for(texts: Iterable[str]) -> tuple[list[str], str]:
    """Return font families that have the glyphs of texts between them, and what is missing.

    The usual family comes first; others are added only for what it lacks.

    >>> families_for(["turn left"])
    (['DejaVu Sans'], '')
    """
    wanted = {c for text in texts for c in text if not c.isspace() and c.isprintable()}
    families = ["DejaVu Sans"]
    missing = wanted - _glyphs("DejaVu Sans", wanted)
    if missing:
        from matplotlib.font_manager import fontManager

        for family in sorted(set(fontManager.get_font_names()) - {"DejaVu Sans", "Last Resort"}):
            found = _glyphs(family, missing)
            if found:
                families.append(family)
                missing -= found
            if not missing:
                break
    return families, "".join(sorted(missing))


@contextmanager
def fonts_for(texts: Iterable[str]) -> Iterator[None]:
    """Draw with fonts that have the glyphs of texts; say what to install if there are none.

    >>> with fonts_for(["turn left"]):
    ...     pass
    """
    from matplotlib import rc_context

    families, missing = families_for(texts)
    if missing:
        scripts = sorted({unicodedata.name(each, "UNKNOWN").split()[0] for each in missing})
        warnings.warn(
            f"No installed font has {missing[:_MOST_SHOWN]!r} ({', '.join(scripts)}); pictures "
            "show boxes instead. Install a font for it, such as one of the Noto family (Debian: "
            "fonts-noto-core, fonts-noto-cjk).",
            GlyphWarning,
            stacklevel=4,
        )
    with rc_context({"font.family": families}), quiet_glyphs():
        yield


@contextmanager
def quiet_glyphs() -> Iterator[None]:
    """Keep matplotlib from telling of every missing glyph, after `fonts_for` has told once.

    >>> with quiet_glyphs():
    ...     pass
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _glyphs(family: str, wanted: Iterable[str]) -> set[str]:
    known = _characters(family)
    return {each for each in wanted if ord(each) in known}


@lru_cache(maxsize=256)
def _characters(family: str) -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        path = findfont(FontProperties(family=family), fallback_to_default=False)
        return frozenset(get_font(path).get_charmap())
    except (ValueError, RuntimeError, OSError):  # a font that matplotlib cannot read
        return frozenset()
