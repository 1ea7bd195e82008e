"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

from config.reporting import start_reporting

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
start_reporting()
application = get_wsgi_application()
