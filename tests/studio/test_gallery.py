"""The gallery: every example of every world is right in the scene it opens in."""

import pytest

from groundling.studio.gallery import GALLERY, open_gallery
from groundling.studio.project import Project
from groundling.world.cached_environment import CachedEnvironment


@pytest.mark.parametrize("name", GALLERY)
def test_gallery_examples_are_right_where_they_open(name, tmp_path):
    project = Project(tmp_path / name, {"kind": "gallery", "name": name})
    try:
        project.learn_now()
        for each in project.setting.examples:
            scene = project.setting.scene(each.scene)
            start = scene.start if each.start is None else each.start
            turn = project.say(scene, start, each.text)
            assert turn.kind == "act", each.text
            world = CachedEnvironment(scene.environment)
            end = world.trace(start, each.actions).end
            assert world.outcome(turn.plan.end) == world.outcome(end), each.text
        standing = project.standing()
        assert standing["held"] >= 0.5 * standing["held_of"]
        assert project.setting.title == GALLERY[name].title
    finally:
        project.close()
    assert open_gallery(name).source == {"kind": "gallery", "name": name}
