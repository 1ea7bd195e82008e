import django.db.models.deletion
from django.db import migrations, models

REFER = """
alter table annotation_judgement add constraint judgement_of_its_event
    foreign key (member_id, event_id, question_id)
    references annotation_judgementevent (member_id, id, question_id)
    deferrable initially deferred
"""
FORGET = "alter table annotation_judgement drop constraint judgement_of_its_event"


class Migration(migrations.Migration):
    """Let one foreign key hold a judgement's event, question and judge together."""

    dependencies = [
        ('annotation', '0009_grades'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='judgementevent',
            name='event_of_member',
        ),
        migrations.AddConstraint(
            model_name='judgementevent',
            constraint=models.UniqueConstraint(fields=('member', 'id', 'question'), name='event_of_member'),
        ),
        migrations.AlterField(
            model_name='judgement',
            name='event',
            field=models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.judgementevent'),
        ),
        migrations.AlterField(
            model_name='judgement',
            name='member',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='judgements', to='annotation.panelmember'),
        ),
        migrations.AlterField(
            model_name='judgement',
            name='question',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='annotation.question'),
        ),
        migrations.RunSQL(REFER, FORGET),
    ]
