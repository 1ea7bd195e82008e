"""Make the audit log, and have the database itself refuse to change it."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

GUARD = """
create function audit_entry_guard() returns trigger language plpgsql as $$
declare
    -- set by audit/retention.py for its transaction; unset is null, and null opens nothing
    address_days integer := nullif(current_setting('lookalike.audit_address_days', true), '');
    entry_days integer := nullif(current_setting('lookalike.audit_days', true), '');
begin
    if tg_op = 'UPDATE' and address_days >= 1 and new.address is null
        and old.at < now() - make_interval(days => address_days)
        and to_jsonb(new) - 'address' = to_jsonb(old) - 'address'
    then
        return new;
    end if;
    if tg_op = 'DELETE' and entry_days >= 30
        and old.at < now() - make_interval(days => entry_days)
    then
        return old;
    end if;
    raise exception 'the audit log is append-only';
end $$;
create trigger entries_are_append_only before update or delete on audit_entry
    for each row execute function audit_entry_guard();
create trigger entries_are_not_truncated before truncate on audit_entry
    for each statement execute function audit_entry_guard();
"""
UNGUARD = """
drop trigger entries_are_not_truncated on audit_entry;
drop trigger entries_are_append_only on audit_entry;
drop function audit_entry_guard();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor_name', models.CharField(help_text='As it was then; empty: the program, or a stranger.', max_length=150)),
                ('action', models.CharField(max_length=40)),
                ('subject_kind', models.CharField(max_length=40)),
                ('subject_id', models.CharField(max_length=40)),
                ('subject_label', models.CharField(max_length=200)),
                ('details', models.JSONField(default=dict)),
                ('address', models.GenericIPAddressField(null=True)),
                ('request_id', models.CharField(max_length=64)),
                ('actor', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'entries',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['action', '-id'], name='audit_entry_action_bf8bf2_idx'), models.Index(fields=['actor_name', '-id'], name='audit_entry_actor_n_2f37e5_idx'), models.Index(fields=['subject_kind', 'subject_id', '-id'], name='audit_entry_subject_ec8efa_idx'), models.Index(fields=['at'], name='audit_entry_at_06beca_idx')],
            },
        ),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
