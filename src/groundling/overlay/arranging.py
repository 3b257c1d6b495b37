"""An encoding as kernels read it: worked out once, and as arrays and numbers only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from groundling.overlay.batch import Batch, Integers, Layout, Room, make_layout, measure_room
from groundling.overlay.encoding import Encoding
from groundling.overlay.potentials import PairTables, tabulate
from groundling.overlay.strips import FlatLayout, is_flat, lay_out_flat, measure_flat_room

__all__ = ["Arrangement", "arrange"]

_PER_WORD = ("tile_cells", "scores", "cells", "candidate_cells")  # room that grows with a text


class Arrangement(NamedTuple):
    """What kernels read beside an encoding; it follows from the encoding."""

    pairs: PairTables
    layout: Layout
    flat: FlatLayout | None  # where all actions are one node each
    advances: Integers  # pairs (word, advance)
    room: Room  # what the largest instance needs


def arrange(encoding: Encoding) -> Arrangement:
    """Lay an encoding out for kernels."""
    batch, kept = encoding.batch, encoding.alone
    if kept is not None and kept.arranged is not None:
        layout, flat, room = _arrange_again(kept.arranged, batch, encoding.word_sets)
    else:
        layout = make_layout(batch, encoding.word_sets)
        flat = lay_out_flat(batch) if is_flat(batch) else None
        room = measure_room(batch, layout)
        if flat is not None:
            room = measure_flat_room(batch, flat, room)
        if kept is not None and len(encoding.word_sets):
            kept.arranged = _without_text(layout, flat, room, len(encoding.word_sets))
    return Arrangement(
        pairs=tabulate(encoding.tables),
        layout=layout,
        flat=flat,
        advances=np.unique(batch.word_advance[batch.word_advance >= 0]),
        room=room,
    )


class _Arranged(NamedTuple):
    """How candidates were laid out for a text alone, of so many words."""

    layout: Layout
    flat: FlatLayout | None
    room: Room
    words: int


def _without_text(layout: Layout, flat: FlatLayout | None, room: Room, words: int) -> _Arranged:
    """Keep nothing of the text, which would take room."""
    none = np.zeros(0, np.int32)
    layout = layout._replace(
        word_set=none, word_leads=none.view(np.bool_), cell_pair=none.view(np.uint32)
    )
    return _Arranged(layout, flat and flat._replace(node_prior=none), room, words)


def _arrange_again(
    before: _Arranged, batch: Batch, word_sets: Integers
) -> tuple[Layout, FlatLayout | None, Room]:
    """Return the same for another text: only what its words have a share in is another."""
    leads = np.zeros(len(word_sets), np.bool_)
    leads[batch.word_parent[batch.word_parent >= 0]] = True
    layout = before.layout._replace(
        word_set=word_sets, word_leads=leads, cell_pair=batch.cell_pair.view(np.uint32)
    )
    flat = before.flat
    if flat is not None:
        prior = np.full(batch.instance_nodes[0], -1, np.int32)
        prior[batch.graph_node] = batch.graph_prior
        flat = flat._replace(node_prior=prior)
    room, words = before.room, len(word_sets)
    scaled = {name: max(1, getattr(room, name) // before.words * words) for name in _PER_WORD}
    return layout, flat, room._replace(groups=int(batch.instance_groups[-1]), **scaled)
