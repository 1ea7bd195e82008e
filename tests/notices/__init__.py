from tests import django_setup  # noqa: F401  (before anything that imports models)
