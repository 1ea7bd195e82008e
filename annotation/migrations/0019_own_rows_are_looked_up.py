from importlib import import_module

from django.db import migrations

references = import_module("annotation.migrations.0014_references_by_statement")
before = import_module("annotation.migrations.0016_own_rows_need_no_lock")

# Planned while there were few rows to refer to, the look at own rows read all of the table into a
# hash: each answer then read all events there were, until statistics were made. With "offset 0" it
# is an index that is looked into.
LOOKED_UP = before.CHECK.replace(
    "and p.xmin = pg_current_xact_id()::xid\n", "and p.xmin = pg_current_xact_id()::xid offset 0\n"
)


class Migration(migrations.Migration):
    """Look what an answer refers to up, however the first look was planned."""

    dependencies = [
        ('annotation', '0018_lent_pairs_stay_in_their_indexes'),
    ]

    operations = [
        migrations.RunSQL(
            references.every(LOOKED_UP, references.WERE_KEYS),
            references.every(before.CHECK, references.WERE_KEYS),
        ),
    ]
