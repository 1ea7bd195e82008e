from django.db import migrations, models


class Migration(migrations.Migration):
    """Let a number of free votes change without a new entry in all indexes of its question.

    The index of free pairs asked for `n_free > 0`, so that each change of the number wrote one into
    every index of the table. A column that says so changes when the last free vote is lent.
    """

    dependencies = [
        ('annotation', '0017_checks_have_no_surplus'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='question',
            name='question_free',
        ),
        migrations.AddField(
            model_name='question',
            name='is_free',
            field=models.GeneratedField(db_persist=True, expression=models.Q(('n_free__gt', 0)), output_field=models.BooleanField()),
        ),
        migrations.AddIndex(
            model_name='question',
            index=models.Index(condition=models.Q(('is_free', True)), fields=['campaign', 'position'], name='question_free'),
        ),
    ]
