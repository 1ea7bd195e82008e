from django.db import migrations

# Where k of n judge, each vote counts one up on its question. With room left on the page the new
# row needs no new entry in any of the table's indexes.
ROOM = "alter table annotation_question set (fillfactor = 80)"
NONE = "alter table annotation_question reset (fillfactor)"


class Migration(migrations.Migration):
    """Leave room beside questions for the counts that are written while judges answer."""

    dependencies = [
        ('annotation', '0010_judgement_of_its_event'),
    ]

    operations = [migrations.RunSQL(ROOM, NONE)]
