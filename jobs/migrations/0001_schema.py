"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('jobs', '0001_initial'),
        ('jobs', '0002_workers'),
        ('jobs', '0003_forgiven_attempts'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150, unique=True)),
                ('queue', models.CharField(help_text='The Celery queue that it alone reads.', max_length=150)),
                ('device', models.CharField(help_text='cpu, mps, cuda:0, …', max_length=20)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Its last heartbeat.')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('task', models.CharField(help_text='Celery task that does the work.', max_length=100)),
                ('subject', models.CharField(help_text='What it works on; one open job per task and subject.', max_length=200)),
                ('title', models.CharField(max_length=200)),
                ('arguments', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('succeeded', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('n_done', models.PositiveBigIntegerField(default=0)),
                ('n_total', models.PositiveBigIntegerField(blank=True, null=True)),
                ('note', models.CharField(blank=True, help_text='What is being done now.', max_length=300)),
                ('rate', models.FloatField(blank=True, help_text='Units a second, lately.', null=True)),
                ('result', models.JSONField(default=dict)),
                ('error', models.TextField(blank=True, help_text='For people: what went wrong, what to do.')),
                ('traceback', models.TextField(blank=True)),
                ('n_attempts', models.PositiveSmallIntegerField(default=0, help_text='In all; names the holder.')),
                ('n_forgiven', models.PositiveSmallIntegerField(default=0, help_text='Of these, before somebody last had it tried again.')),
                ('worker', models.CharField(blank=True, help_text='host:process', max_length=200)),
                ('queue', models.CharField(blank=True, help_text="A worker's own queue; empty leaves it to the task.", max_length=150)),
                ('lease_until', models.DateTimeField(blank=True, help_text='While running: lost after this. While queued: not sent again before this.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('held_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='jobs.worker')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['state', 'lease_until'], name='jobs_job_state_e33db5_idx'), models.Index(fields=['subject'], name='jobs_job_subject_4821d3_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('queued', 'running'))), fields=('task', 'subject'), name='one_open_job_per_subject')],
            },
        ),
    ]
