from django.db import migrations

# Everybody answers a check. Where an answer to one was excluded and counted again, those beyond
# the k-th had been put aside as surplus votes.
COUNT = """
update annotation_judgement j set is_surplus = false
from annotation_question q
where q.id = j.question_id and q.kind <> 'pair' and j.is_surplus
"""


class Migration(migrations.Migration):
    """Let answers to checks count that had been taken for surplus votes."""

    dependencies = [
        ('annotation', '0016_own_rows_need_no_lock'),
    ]

    operations = [migrations.RunSQL(COUNT, migrations.RunSQL.noop)]
