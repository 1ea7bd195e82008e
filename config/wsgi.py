"""The WSGI entry point."""

import os
from importlib import import_module

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.database.base import outage
from config.operation.reporting import start_reporting
from config.running.when_prepared import wait_until_prepared

PATIENCE = 10.0  # seconds for which requests wait for a database that is away

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A page's sums are small: a second thread would only wait for the first, and busily
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
start_reporting()
outage.patience = PATIENCE
django.setup(set_prefix=False)
import_module(settings.ROOT_URLCONF)  # every page, or the first request would wait for it
wait_until_prepared()  # the middleware looks at the static files
application = get_wsgi_application()
visitors = import_module("config.running.visitors").SiteVisitors()  # needs Django to be set up
