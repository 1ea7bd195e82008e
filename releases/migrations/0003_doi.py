from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("releases", "0002_released_pairs"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="doi",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Under which it was deposited.",
                max_length=100,
            ),
        ),
    ]
