import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Let a judgement have no number but its event's: an index less for each answer to write."""

    dependencies = [
        ('annotation', '0012_event_of_its_entry'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='judgement',
            options={'ordering': ['event_id']},
        ),
        migrations.RemoveField(
            model_name='judgement',
            name='id',
        ),
        migrations.AlterField(
            model_name='judgement',
            name='event',
            field=models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='annotation.judgementevent'),
        ),
    ]
