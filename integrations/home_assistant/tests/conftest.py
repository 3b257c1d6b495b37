"""Fixture: Home Assistant with the custom component."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
import custom_components  # noqa: E402 - Home Assistant takes the one that is imported already


@pytest.fixture(autouse=True)
def auto_enable_custom_integrations(enable_custom_integrations):
    assert str(HERE / "custom_components") in map(str, custom_components.__path__)
