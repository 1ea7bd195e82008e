"""Let PostgreSQL refuse any change of a judgement event."""

from django.db import migrations

FORBID = """
create function annotation_refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'judgement events are append-only';
end $$;
create trigger events_are_append_only before update on annotation_judgementevent
    for each statement execute function annotation_refuse_change();
"""
ALLOW = """
drop trigger events_are_append_only on annotation_judgementevent;
drop function annotation_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunSQL(FORBID, ALLOW)]
