import django.db.models.deletion
from django.db import migrations, models

# A reference holds as a foreign key's does, but is checked once for all rows that a statement
# adds: ADR 19. The row that is referred to is locked, so that nobody can delete it meanwhile. Who
# deletes it is told at the end of the transaction, so that both can be deleted in any order.
REFERENCE = """
create function {name}() returns trigger language plpgsql as $$
begin
    if exists (
        select from added a where not exists (
            select from {parent} p where {of_added} for key share
        )
    ) then
        raise foreign_key_violation using
            table = '{child}', constraint = '{name}',
            message = '{child} refers to a row of {parent} that is not there ({name})';
    end if;
    return null;
end $$;

create trigger {name} after insert on {child}
    referencing new table as added for each statement execute function {name}();

create function {name}_left() returns trigger language plpgsql as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise feature_not_supported using
            message = 'rows of {parent} are deleted under “read committed” alone ({name})';
    end if;
    if exists (select from {child} c where {of_deleted})
       and not exists (select from {parent} p where {again}) then
        raise foreign_key_violation using
            table = '{child}', constraint = '{name}',
            message = '{child} still refers to a deleted row of {parent} ({name})';
    end if;
    return null;
end $$;

create constraint trigger {name}_left after delete on {parent}
    deferrable initially deferred for each row execute function {name}_left();

create function {name}_emptied() returns trigger language plpgsql as $$
begin
    if exists (select from {child}) then
        raise foreign_key_violation using
            table = '{child}', constraint = '{name}',
            message = '{child} still refers to rows of {parent}: empty both ({name})';
    end if;
    return null;
end $$;

create trigger {name}_emptied after truncate on {parent}
    for each statement execute function {name}_emptied();
"""
NO_REFERENCE = """
drop function {name}() cascade;
drop function {name}_left() cascade;
drop function {name}_emptied() cascade;
"""
KEY = """
alter table {child} add constraint {name} foreign key ({columns}) references {parent} ({keys})
    deferrable initially deferred;
"""
NO_KEY = "alter table {child} drop constraint {name};"
MEMBER, QUESTION = "annotation_panelmember", "annotation_question"
ENTRY, EVENT = "annotation_queueentry", "annotation_judgementevent"
JUDGEMENT = "annotation_judgement"
# by name: what refers, what is referred to, and by which columns of the one and of the other
REFERENCES = {
    "entry_of_its_member": (ENTRY, MEMBER, {"member_id": "id"}),
    "entry_of_its_question": (ENTRY, QUESTION, {"question_id": "id"}),
    "event_of_its_entry": (
        EVENT, ENTRY, {"member_id": "member_id", "question_id": "question_id"},
    ),
    "judgement_of_its_event": (
        JUDGEMENT, EVENT,
        {"event_id": "id", "member_id": "member_id", "question_id": "question_id"},
    ),
}  # fmt: skip
WERE_KEYS = ("event_of_its_entry", "judgement_of_its_event")

# A judgement may come to stand for a later event. Nothing else that refers, or is referred to,
# ever changes that: events are not changed at all.
FIXED = """
create trigger judgement_of_its_event_changed after update on annotation_judgement
    referencing new table as added for each statement execute function judgement_of_its_event();

create function annotation_refuse_another() returns trigger language plpgsql as $$
begin
    raise exception '%: these columns never change, others refer to them', tg_table_name;
end $$;
create trigger entry_is_fixed before update of member_id, question_id on annotation_queueentry
    for each statement execute function annotation_refuse_another();
create trigger member_is_fixed before update of id on annotation_panelmember
    for each statement execute function annotation_refuse_another();
create trigger question_is_fixed before update of id on annotation_question
    for each statement execute function annotation_refuse_another();
"""
FREE = "drop function annotation_refuse_another() cascade;"


def written(template, name):
    """Return the template's SQL for one reference."""
    child, parent, columns = REFERENCES[name]
    return template.format(
        name=name,
        child=child,
        parent=parent,
        columns=", ".join(columns),
        keys=", ".join(columns.values()),
        of_added=" and ".join(f"p.{key} = a.{column}" for column, key in columns.items()),
        of_deleted=" and ".join(f"c.{column} = old.{key}" for column, key in columns.items()),
        again=" and ".join(f"p.{key} = old.{key}" for key in columns.values()),
    )


def every(template, names=tuple(REFERENCES)):
    """Return the template's SQL for some references."""
    return "".join(written(template, name) for name in names)


class Migration(migrations.Migration):
    """Check what judgements, events and queues refer to once for each statement."""

    dependencies = [
        ('annotation', '0013_judgement_by_its_event'),
        ('conditional', '0003_one_engine'),  # adds events before their entries
    ]

    operations = [
        migrations.AlterField(
            model_name='queueentry',
            name='member',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queue', to='annotation.panelmember'),
        ),
        migrations.AlterField(
            model_name='queueentry',
            name='question',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='annotation.question'),
        ),
        migrations.RunSQL(every(NO_KEY, WERE_KEYS), every(KEY, WERE_KEYS)),
        migrations.RemoveConstraint(
            model_name='judgementevent',
            name='event_of_member',
        ),
        migrations.AddIndex(
            model_name='judgementevent',
            index=models.Index(fields=['member', 'id'], name='event_of_member'),
        ),
        migrations.RunSQL(every(REFERENCE), every(NO_REFERENCE)),
        migrations.RunSQL(FIXED, FREE),
    ]
