from importlib import import_module

from django.db import migrations

references = import_module("annotation.migrations.0014_references_by_statement")

# What this transaction has written itself nobody else can delete before it ends, and who deletes
# it then sees what refers to it. Most answers refer to such rows: their entry has just been
# answered, their event just been stored. A lock of each would be a write of each.
CHECK = """
create or replace function {name}() returns trigger language plpgsql as $$
begin
    if exists (
        select from added a where case when exists (  -- “and” would look at them in any order
            select from {parent} p where {of_added} and p.xmin = pg_current_xact_id()::xid
        ) then false else not exists (
            select from {parent} p where {of_added} for key share
        ) end
    ) then
        raise foreign_key_violation using
            table = '{child}', constraint = '{name}',
            message = '{child} refers to a row of {parent} that is not there ({name})';
    end if;
    return null;
end $$;
"""
LOCK_ALL = references.REFERENCE.partition("create trigger")[0].replace(
    "create function", "create or replace function"
)


class Migration(migrations.Migration):
    """Lock no row that the transaction has written itself, to refer to it."""

    dependencies = [
        ('annotation', '0015_entry_by_judge_and_question'),
    ]

    operations = [
        migrations.RunSQL(
            references.every(CHECK, references.WERE_KEYS),
            references.every(LOCK_ALL, references.WERE_KEYS),
        ),
    ]
