"""Constants for choosing settings and checking data, each with its reason."""

from __future__ import annotations

from typing import Final

# ---- facts about the data -------------------------------------------------------------------
PROFILE_SIZE: Final = 180  # demonstrations to examine; larger samples gave the same facts
SAMPLED_STARTS: Final = 10  # starts per environment whose actions are counted; others are similar
A_FEW: Final = 3  # smaller counts may be due to chance; also the number of examples in a message
NEARLY_ALL: Final = 0.8  # share that counts as nearly all; the rest are mistakes
HARDLY_ANY: Final = 0.1  # share that may be due to chance

# ---- capacity by the number of demonstrations -----------------------------------------------
ENOUGH_FOR_PAIRS: Final = 100  # demonstrations; below, each pair of words is too rare
LARGE_DATA: Final = 300  # demonstrations; below, a lexicon or second member adds nothing
L2_PER_DEMONSTRATION: Final = 1e-3  # keeps the regularisation of each demonstration constant
MIN_L2: Final = 0.02  # below it, weights of separable data grow without bound
MAX_L2: Final = 2.0  # above it, the model underfits whole plans
TOLERANCE: Final = 1e-4  # relative tolerance of training
LOOSE_TOLERANCE: Final = 1e-3  # from 1,000 demonstrations; further iterations change few answers

# ---- whole configurations -------------------------------------------------------------------
WORD_PAIR_WEIGHT: Final = 0.7  # factor for each further word in a label: pairs are rarer
UNALIGNED_COST: Final = 2.3  # log 10: one unit in ten names no action, and one in ten names several
COMPOSED_WEIGHT: Final = 0.5  # weight of two joined demonstrations, which also count separately

# ---- the race -------------------------------------------------------------------------------
LAPS: Final = (60, 960)  # demonstrations in the first and the largest lap: errors of 10 % and 2 %
FOLDS: Final = 3  # train on two thirds, compare on one third
LAP_ITERATIONS: Final = 20  # training iterations in a lap; the ranking settles before convergence
DROP_OUT_ERRORS: Final = 2.0  # standard errors behind the leader at which a configuration drops out
RACE_BUDGET: Final = 2  # passes over the data in all laps, at about half the cost of the final fit
TUNED_L2_FACTORS: Final = (0.1, 0.3, 3.0, 10.0)  # `tuned` multiplies the winner's L2 by these

# ---- checks ---------------------------------------------------------------------------------
NEGLIGIBLE_WEIGHT: Final = 1e-6  # smaller weights are rounding errors
NEGLIGIBLE_MARGIN: Final = 0.01  # score difference; 1 % in probability
POOR_ACCURACY: Final = 0.6  # `fit` warns below this accuracy on training demonstrations
LONG_TEXT: Final = 200  # words; a single instruction is shorter
