import django.db.models.deletion
from django.db import migrations, models

REFER = """
alter table annotation_judgementevent add constraint event_of_its_entry
    foreign key (member_id, question_id)
    references annotation_queueentry (member_id, question_id)
    deferrable initially deferred
"""
FORGET = "alter table annotation_judgementevent drop constraint event_of_its_entry"


class Migration(migrations.Migration):
    """Let one foreign key hold an event's question and judge: their entry in the queue."""

    dependencies = [
        ('annotation', '0011_room_for_counts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='judgementevent',
            name='question',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotation.question'),
        ),
        migrations.AlterField(
            model_name='judgementevent',
            name='member',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='events', to='annotation.panelmember'),
        ),
        migrations.RunSQL(REFER, FORGET),
    ]
