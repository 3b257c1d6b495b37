"""Prometheus metrics of a service: request counts, response times and confidence."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from groundling.studio.rate_limit import RateLimit

PATHS = ("/v1/follow", "/v1/explain", "/v1/say", "/v1/teach", "/v1/health", "/v1/model")
_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class Metrics:
    """Metrics of one service, in a separate registry.

    >>> metrics = Metrics(RateLimit())
    >>> metrics.answered("/v1/follow", 200, 0.03)
    >>> print([line for line in metrics.text().splitlines() if "requests_total{" in line])
    ['groundling_requests_total{path="/v1/follow",status="200"} 1.0']
    """

    def __init__(self, limit: RateLimit) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "groundling_requests", "Completed requests.", ("path", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "groundling_request_seconds",
            "Response time in seconds.",
            ("path",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._plans = Counter(
            "groundling_plans", "Returned plans.", ("understood",), registry=self.registry
        )
        self._follow = Histogram(
            "groundling_follow_seconds",
            "Time to compute a plan in seconds, including waiting.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        waiting = Gauge(
            "groundling_requests_waiting", "Running or waiting requests.", registry=self.registry
        )
        waiting.set_function(lambda: float(limit.busy))

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a response and record its time; unknown paths are counted as "other"."""
        known = path if path in PATHS else "other"
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(seconds)

    def followed(self, seconds: float, understood: bool) -> None:
        """Count a plan, and record how long following took."""
        self._plans.labels("yes" if understood else "no").inc()
        self._follow.observe(seconds)

    def text(self) -> str:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry).decode("utf-8")
