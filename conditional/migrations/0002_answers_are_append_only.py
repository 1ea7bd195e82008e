"""Let PostgreSQL refuse any change of a verifier's answer."""

from django.db import migrations

FORBID = """
create function conditional_refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'answers of verifiers are append-only';
end $$;
create trigger answers_are_append_only before update on conditional_verifieranswer
    for each statement execute function conditional_refuse_change();
"""
ALLOW = """
drop trigger answers_are_append_only on conditional_verifieranswer;
drop function conditional_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("conditional", "0001_initial")]
    operations = [migrations.RunSQL(FORBID, ALLOW)]
