"""Looking inside a follower: its weights, its lexicon, what was chosen for it."""

from __future__ import annotations

from groundling.errors import NotFittedError, SettingError
from groundling.estimator import Estimator
from groundling.features.lexicon import Lexicon
from groundling.inference.settings import Search
from groundling.learning.choosing import Choices
from groundling.learning.trainer import Learnt
from groundling.overlay.batch import Reals
from groundling.settings import Auto

__all__ = ["Looking"]


class Looking(Estimator):
    """What can be seen of what a follower has learnt.

    >>> from groundling import Follower
    >>> Follower().theta_
    Traceback (most recent call last):
        ...
    groundling.errors.NotFittedError: This Follower has not learnt anything yet. Call fit with
    demonstrations, or Follower.load with a saved model.
    """

    search: Search | Auto
    _learnt: Learnt

    def _fitted(self) -> Learnt:
        if not hasattr(self, "_learnt"):
            raise NotFittedError(
                "This Follower has not learnt anything yet. Call fit with demonstrations, or "
                "Follower.load with a saved model."
            )
        return self._learnt

    @property
    def theta_(self) -> Reals:
        """The learnt weights θ."""
        return self._fitted().fitted.theta

    @property
    def feature_names_(self) -> list[str]:
        """The name of each weight, in the order of `theta_`."""
        return self._fitted().fitted.space.names()

    @property
    def lexicon_(self) -> Lexicon:
        """The lexicon in use, with what was learnt."""
        return self._fitted().fitted.encoder.reader.lexicon

    @property
    def loss_(self) -> float:
        """The final training loss."""
        return self._fitted().loss

    @property
    def temperature_(self) -> float:
        """What scores are divided by so that confidences are calibrated."""
        return self._fitted().temperature

    @property
    def weight_count_(self) -> int:
        """How many weights were learnt, those of all members together."""
        return sum(len(each.theta) for each in self._fitted().fitted.members)

    def weights(
        self, containing: str = "", *, most: int = 20, member: int = 0
    ) -> list[tuple[str, float]]:
        """Return the strongest features whose name contains a string, as the paper's Table 2.

        `member` is the number of the ensemble's member whose weights are asked for.
        """
        members = self._fitted().fitted.members
        if not 0 <= member < len(members):
            raise SettingError(
                f"There is no member {member}: this follower has {len(members)}, counted from 0."
            )
        fitted = members[member]
        chosen = [
            (name, float(weight))
            for name, weight in zip(fitted.space.names(), fitted.theta.tolist(), strict=True)
            if containing in name and weight != 0
        ]
        return sorted(chosen, key=lambda each: (-abs(each[1]), each[0]))[:most]

    @property
    def member_count_(self) -> int:
        """How many models have a say: one, unless they are an ensemble."""
        return len(self._fitted().fitted.members)

    @property
    def threshold(self) -> float:
        """Below this confidence the follower says that it does not understand."""
        if hasattr(self, "_learnt"):
            return self._learnt.search.threshold
        return Search().threshold if isinstance(self.search, str) else self.search.threshold

    @property
    def choices_(self) -> Choices:
        """What was chosen from the demonstrations, and why; print it to read it."""
        return Choices(self._fitted().choices)
