from django.apps import AppConfig


class ConditionalConfig(AppConfig):
    name = "conditional"
    verbose_name = "Conditional similarity"

    def ready(self) -> None:
        """Let campaigns ask about templates and triplets."""
        from annotation.task_kinds import register  # noqa: PLC0415 - models come first
        from conditional.campaigns.kinds import TemplateKind, TripletKind  # noqa: PLC0415

        register(TemplateKind())
        register(TripletKind())
