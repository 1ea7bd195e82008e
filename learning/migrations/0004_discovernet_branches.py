from typing import Any

from django.db import migrations


def say_that_branches_were_trained(apps: Any, _: Any) -> None:
    """Runs of DiscoverNet trained their branch until it was frozen by default."""
    runs = apps.get_model("learning", "TrainingRun")
    for run in runs.objects.filter(recipe__method__startswith="DiscoverNet"):
        run.recipe.setdefault("is_branch_trained", True)
        run.save(update_fields=["recipe"])


class Migration(migrations.Migration):
    dependencies = [("learning", "0003_families")]
    operations = [
        migrations.RunPython(say_that_branches_were_trained, migrations.RunPython.noop, elidable=True)
    ]
