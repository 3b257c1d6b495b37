"""What all tests share."""


def pytest_configure(config):
    """Let tests learn in worlds that are too small or odd; `test_diagnosing` hears the warnings."""
    config.addinivalue_line("filterwarnings", "ignore::groundling.errors.LearningWarning")
