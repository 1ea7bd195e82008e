"""The site's own settings, with the bare view's address added."""

from __future__ import annotations

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.judging_site.urls"
ANSWERS_A_MINUTE = 0  # a benchmark's judges answer fifty times a second
