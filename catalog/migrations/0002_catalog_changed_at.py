import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="catalog",
            name="changed_at",
            field=models.DateTimeField(
                default=django.utils.timezone.now,
                help_text="When an import last wrote an image of it.",
            ),
        ),
    ]
