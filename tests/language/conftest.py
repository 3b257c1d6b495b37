import pytest


@pytest.fixture(autouse=True)
def no_cache_on_disk(monkeypatch):
    """Keep the tests away from the user's cache folder."""
    monkeypatch.setenv("GROUNDLING_CACHE", "")
