"""A model of somebody else works with a follower through the protocol alone."""

from dataclasses import dataclass

import numpy as np
import pytest

from groundling import Ensemble, Features, Follower, Learning, Member, Overlay, Search
from groundling.answers import score_plans
from groundling.errors import DemonstrationError, SettingError
from groundling.models.base import Model, Objective, SearchResult
from groundling.models.interpretation import Interpretation
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.settings import idle_setting, setting
from groundling.world.trajectory import ScoredTrajectory
from tests.worlds import Line, line_demonstrations


@dataclass(frozen=True, repr=False)
class OneStepModel(Model):
    """Plans are single actions, and the whole text is about the one that is taken."""

    sharpness: float = setting(1.0, above=0)

    def check(self, overlay, features, rounds, search):
        if search.min_length > 1:
            raise idle_setting("Search.min_length", "in OneStepModel", "Leave it out.")

    def objective(self, data):
        self.check_negative_starts(data.examples)
        return OneStepObjective(data)

    def search(self, fitted, requests, search):
        for request in requests:
            world, start = request.world, request.start
            plans = [
                ScoredTrajectory((start, world.step(start, action)), (action,))
                for action in world.actions(start)
            ]
            scores = self.scores(fitted, request, plans, search) if plans else []
            yield SearchResult(
                [
                    ScoredTrajectory(plan.states, plan.actions, score=score)
                    for plan, score in zip(plans, scores, strict=True)
                ]
            )

    def interpret(self, fitted, request, plans, search):
        encoder, theta = fitted.encoder, fitted.theta
        graphs = [encoder.ground(request.world, *next(plan.decisions())) for plan in plans]
        text = encoder.label(request.text, graphs)
        candidates = Candidates(((graph,), None) for graph in graphs)
        scorer = encoder.encode([Instance(text.skeleton, text.words, [candidates])], fitted.space)
        scores = self.sharpness * scorer.candidate_scores(theta)
        found = []
        for place in range(len(plans)):
            posteriors = scorer.posteriors(scorer.potentials(theta), 0, place)
            chosen = np.eye(len(plans))[place] * self.sharpness
            words = scorer.weighted_gradient(theta, chosen, 0 * chosen)
            free = scorer.weighted_gradient(theta, 0 * chosen, chosen)
            found.append(
                Interpretation(
                    float(scores[place]), (posteriors[text.order()],), (words,), (free,),
                    np.zeros(len(theta)),
                )
            )  # fmt: skip
        return found


class OneStepObjective(Objective):
    """The demonstrated action against all others in its state."""

    def __init__(self, data):
        self.data = data
        self.graphs = [
            [
                data.encoder.ground(each.world, each.trajectory.start, action)
                for action in each.world.actions(each.trajectory.start)
            ]
            for each in data.examples
        ]

    def encode(self):
        data = self.data
        texts = data.label(self.graphs, separate=False)
        instances = [
            Instance(
                text.skeleton, text.words, [Candidates.single(pool)],
                (each.world.actions(each.trajectory.start).index(each.trajectory.actions[0]),),
                each.weight,
            )
            for each, text, pool in zip(data.examples, texts, self.graphs, strict=True)
        ]  # fmt: skip
        self.scorer = data.encode(instances)
        self.check_possible()


def make(**settings):
    chosen = {
        "model": OneStepModel(),
        "overlay": Overlay(entry="any"),
        "features": Features(words=("word",)),
        "learning": Learning(l2=0.1),
        "search": Search(max_length=1),
        "parser": "chain",
    } | settings
    return Follower(**chosen)


def shown():
    return line_demonstrations()[:4]


@pytest.fixture(scope="module")
def fitted():
    return make().fit(shown())


def test_protocol_is_enough_to_learn_and_follow(fitted):
    assert fitted.score(shown()) == 1.0
    plan = fitted.follow("please go right", Line(9), 4)
    assert plan.actions == ("right",)
    assert plan.probability + plan.alternatives[0].probability == pytest.approx(1.0)


def test_protocol_is_enough_to_explain(fitted):
    plan = fitted.follow("go right", Line(), 1)
    why = plan.explain()
    margin = plan.log_probability - plan.alternatives[0].log_probability
    assert why.margin == pytest.approx(margin)
    [step] = why.steps
    assert step.text.total + step.own.total + why.ambiguity == pytest.approx(why.score)
    assert step.causes[0].probability == pytest.approx(1.0)
    assert max(why.deletions, key=lambda each: abs(each.margin)).word == "right"


def test_protocol_is_enough_to_calibrate_and_resume(fitted, tmp_path):
    follower = make().fit(shown(), checkpoint=tmp_path)
    again = make().fit(shown(), checkpoint=tmp_path)
    assert again.theta_.tobytes() == follower.theta_.tobytes() == fitted.theta_.tobytes()
    assert follower.calibrate(shown()).temperature_ < 1


def test_protocol_settings_are_those_of_any_other_model(fitted):
    assert make().get_params()["model__sharpness"] == 1.0
    sharp = make().set_params(model__sharpness=3.0).fit(shown())
    assert repr(sharp.model) == "OneStepModel(sharpness=3.0)"
    one, other = (each.follow("go right", Line(), 1) for each in (fitted, sharp))
    margins = [p.log_probability - p.alternatives[0].log_probability for p in (one, other)]
    assert margins[1] == pytest.approx(3 * margins[0])
    with pytest.raises(SettingError, match=r"OneStepModel.sharpness must be > 0"):
        OneStepModel(sharpness=0)
    with pytest.raises(SettingError, match=r"Search.min_length has no effect in OneStepModel"):
        make(search=Search(min_length=2)).fit(shown())


def test_protocol_models_can_be_members_of_an_ensemble(fitted):
    other = Member(Overlay.flat(), Features(words=("word",)))
    together = make(model=Ensemble([other], OneStepModel())).fit(shown())
    alone = make(overlay=other.overlay).fit(shown())
    margins = []
    for follower in (fitted, alone, together):
        plan = follower.follow("go right", Line(), 1)
        assert plan.actions == ("right",)
        margins.append(plan.log_probability - plan.alternatives[0].log_probability)
    assert margins[2] == pytest.approx((margins[0] + margins[1]) / 2)


def test_protocol_refuses_what_a_model_did_not_say_it_could(fitted, tmp_path):
    with pytest.raises(SettingError, match="OneStepModel cannot compare plans from several starts"):
        list(score_plans(fitted.learnt_, [("go left", Line(), (1, 2))]))
    with pytest.raises(SettingError, match=r"can be saved; got OneStepModel"):
        fitted.save(tmp_path / "model")
    told = [type(each)(each.instructions, each.environment, each.start, each.actions,
                       negative_starts=(3 - each.start,)) for each in shown()]  # fmt: skip
    with pytest.raises(DemonstrationError, match=r"no effect in OneStepModel. Use PlanModel"):
        make().fit(told)


def test_protocol_asks_for_its_three_methods():
    class Half(Model):
        def objective(self, data):
            """Say nothing of searching."""

    with pytest.raises(TypeError, match="interpret"):
        Half()
