import django.db.models.deletion
from django.db import migrations, models

REFER = """
alter table annotation_judgementevent add constraint event_of_its_entry
    foreign key (question_id, member_id)
    references annotation_queueentry (question_id, member_id)
    deferrable initially deferred
"""
FORGET = "alter table annotation_judgementevent drop constraint event_of_its_entry"


class Migration(migrations.Migration):
    """Let one foreign key hold an event's question and judge, and one index a question's entries.

    A queue is written and answered row by row, and each index and key of it costs at each row.
    """

    dependencies = [
        ('annotation', '0011_room_for_counts'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='queueentry',
            name='one_entry_per_question',
        ),
        migrations.AlterField(
            model_name='queueentry',
            name='question',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='annotation.question'),
        ),
        migrations.AddConstraint(
            model_name='queueentry',
            constraint=models.UniqueConstraint(fields=('question', 'member'), name='one_entry_per_judge'),
        ),
        migrations.AddIndex(
            model_name='queueentry',
            index=models.Index(condition=models.Q(('state', 'settled')), fields=['member'], name='entry_settled'),
        ),
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
