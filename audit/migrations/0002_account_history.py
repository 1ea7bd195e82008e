"""Take over what was noted of accounts before there was an audit log."""

from django.conf import settings
from django.db import migrations

TAKE_OVER = """
insert into audit_entry (at, actor_id, actor_name, action, subject_kind, subject_id, subject_label,
                         details, request_id)
select l.action_time, l.user_id, u.username, 'person_changed', 'user', l.object_id,
       left(l.object_repr, 200), jsonb_build_object('what', left(l.change_message, 500)), ''
from django_admin_log l
join django_content_type t on t.id = l.content_type_id
join accounts_user u on u.id = l.user_id
where t.app_label = 'accounts' and t.model = 'user' and length(l.object_id) <= 40
  and l.change_message <> '' and l.change_message not like '[%'
  and not exists (select from audit_entry)
order by l.id
"""


class Migration(migrations.Migration):

    dependencies = [
        ("audit", "0001_schema"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunSQL(TAKE_OVER, migrations.RunSQL.noop)]
