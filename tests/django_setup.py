"""Django on a PostgreSQL and a Valkey of this process's own.

Each folder of tests that need the site imports this first (in its `__init__.py`), so a run of
pure tests alone starts no service, and neither does the process that only hands tests to others.
"""

from __future__ import annotations

import os

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

from config import embedded, settings

# not named in pyproject.toml: pytest-django would read the settings before tests/conftest.py has
# chosen the data folder
django.setup()
embedded.hold_services(settings.SERVICES)  # the last process to end stops them
