"""Test session set-up: hypothesis profiles, without a database so that the work tree stays clean; our own options."""

import pytest
from hypothesis import HealthCheck, settings

from tests.needs import IN_CI
from tests.strategies import QUICK

settings.register_profile(
    "quick",
    max_examples=QUICK,
    deadline=None,
    database=None,
    derandomize=IN_CI,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=20 * QUICK, derandomize=False)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fastsrb", metavar="FILE", help="FastSRB's own expressions.yaml, to compare our table with")
