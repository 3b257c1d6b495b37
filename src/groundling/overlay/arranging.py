"""An encoding as kernels read it: worked out once, and as arrays and numbers only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from groundling.overlay.batch import Integers, Layout, Room, make_layout, measure_room
from groundling.overlay.encoding import Encoding
from groundling.overlay.potentials import PairTables, tabulate
from groundling.overlay.strips import FlatLayout, is_flat, lay_out_flat, measure_flat_room

__all__ = ["Arrangement", "arrange"]


class Arrangement(NamedTuple):
    """What kernels read beside an encoding; it follows from the encoding."""

    pairs: PairTables
    layout: Layout
    flat: FlatLayout | None  # where all actions are one node each
    advances: Integers  # pairs (word, advance)
    room: Room  # what the largest instance needs


def arrange(encoding: Encoding) -> Arrangement:
    """Lay an encoding out for kernels."""
    batch = encoding.batch
    layout = make_layout(batch, encoding.word_sets)
    flat = lay_out_flat(batch) if is_flat(batch) else None
    room = measure_room(batch, layout)
    return Arrangement(
        pairs=tabulate(encoding.tables),
        layout=layout,
        flat=flat,
        advances=np.unique(batch.word_advance[batch.word_advance >= 0]),
        room=room if flat is None else measure_flat_room(batch, flat, room),
    )
