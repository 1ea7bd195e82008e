"""Pools say whether queries of another catalog share its product ids.

Pools made before were filled as if they did not, and so they say now: pairs of equal ids that
results left out count from the next evaluation on. Where rounds were drawn, they stay left out,
since the probabilities of those rounds hold without them.
"""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def keep_rounds_as_drawn(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    pools = apps.get_model("pooling", "Pool").objects
    pools.filter(
        query_catalog__isnull=False, exclude_same_product=True, campaign_links__in_rounds=True
    ).update(shared_product_ids=True)


class Migration(migrations.Migration):
    dependencies = [("pooling", "0002_rounds")]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="shared_product_ids",
            field=models.BooleanField(
                default=False,
                help_text="A product id means the same product in the catalogs of queries and candidates.",  # noqa: E501
            ),
        ),
        migrations.RunPython(keep_rounds_as_drawn, migrations.RunPython.noop),
    ]
