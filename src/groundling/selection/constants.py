"""Every number by which settings are chosen and checks are made, each with its reason."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHARGE", "COMPOSED", "COMPOUND", "COST", "FAR", "FEW", "FIRST", "FOLDS", "ITERATIONS",
    "LEAST_PENALTY", "LOOSE", "MANY", "MOSTLY", "MOST_PENALTY", "NOTHING", "PENALTIES", "POOR",
    "RACE", "SAMPLE", "SEVERAL", "SHARE", "SHARING", "SLIGHT", "TIGHT", "WORDS",
]  # fmt: skip

# ---- facts about the data -------------------------------------------------------------------
SAMPLE: Final = 180  # demonstrations that are examined closely: more change no fact that we saw
SHARING: Final = 10  # starts of one environment whose actions are counted: later ones repeat them
SEVERAL: Final = 3  # a few: what is less may be chance, and a message names no more
MOSTLY: Final = 0.8  # share that counts as nearly all; the rest are slips
SHARE: Final = 0.1  # share that counts as hardly any; it happens by chance

# ---- capacity by the number of demonstrations -----------------------------------------------
FEW: Final = 100  # demonstrations below which pairs of words are seen too seldom to be learnt
MANY: Final = 300  # demonstrations from which a lexicon or a second member finds new evidence
CHARGE: Final = 1e-3  # L2 penalty for each demonstration, so that it is the same for each
LEAST_PENALTY: Final = 0.02  # L2 below which weights of separable data grow without end
MOST_PENALTY: Final = 2.0  # L2 above which whole plans are smoothed away
TIGHT: Final = 1e-4  # relative tolerance of training
LOOSE: Final = 1e-3  # the same for ten times MANY: last steps change nothing and take longest

# ---- whole configurations -------------------------------------------------------------------
COMPOUND: Final = 0.7  # weight of a label for each further word that it names
COST: Final = 2.3  # log 10: one unit in ten names no action, one in ten another one
COMPOSED: Final = 0.5  # weight of two demonstrations joined into one: half, as both count already

# ---- the race -------------------------------------------------------------------------------
FIRST: Final = 60  # demonstrations of the first lap: fewer cannot tell halves from thirds
FOLDS: Final = 3  # folds: two thirds learn enough, and a third tells enough
ITERATIONS: Final = 20  # of training in a lap: order settles long before convergence
FAR: Final = 2.0  # standard errors behind the leader at which a configuration drops out
RACE: Final = 2  # demonstrations of all laps for each one: about half of what the last fit takes
PENALTIES: Final = (0.1, 0.3, 3.0, 10.0)  # times the usual L2, that `tuned` tries on the winner

# ---- checks ---------------------------------------------------------------------------------
NOTHING: Final = 1e-6  # weight below which nothing was learnt
SLIGHT: Final = 0.01  # lead in score that nobody would call likelier: one part in a hundred
POOR: Final = 0.6  # share of right plans below which `fit` warns
WORDS: Final = 200  # words that no instruction has which a person says at once
