from django.apps import AppConfig


class ConditionalConfig(AppConfig):
    name = "conditional"
    verbose_name = "Conditional similarity"
