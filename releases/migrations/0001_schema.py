"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('releases', '0001_initial'),
        ('releases', '0002_keep_labels_back'),
    ]

    dependencies = [
        ('annotation', '0001_schema'),
        ('jobs', '0001_schema'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('slug', models.SlugField(help_text='Of the benchmark, the same in each version.', max_length=80)),
                ('title', models.CharField(max_length=200)),
                ('major', models.PositiveIntegerField()),
                ('minor', models.PositiveIntegerField()),
                ('patch', models.PositiveIntegerField()),
                ('visibility', models.CharField(choices=[('public', 'Everybody, without signing in'), ('members', 'Researchers and admins')], default='members', max_length=10)),
                ('description', models.TextField(blank=True)),
                ('info', models.JSONField(default=dict, help_text='release.json.')),
                ('statistics', models.JSONField(default=dict, help_text='statistics.json.')),
                ('entrants', models.JSONField(default=list, help_text='models.json, without the cards.')),
                ('results', models.JSONField(default=dict, help_text='results.json: on public labels.')),
                ('hidden_results', models.JSONField(default=dict, help_text='On hidden labels, rounded; empty if none are hidden.')),
                ('changes', models.JSONField(default=dict, help_text='Against the version before, as text.')),
                ('seal', models.CharField(help_text='Of the manifest: names the content.', max_length=64)),
                ('archive_sha256', models.CharField(max_length=64)),
                ('archive_bytes', models.PositiveBigIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaigns', models.ManyToManyField(blank=True, related_name='releases', to='annotation.campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['slug', '-major', '-minor', '-patch'],
            },
        ),
        migrations.CreateModel(
            name='Download',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(help_text='In the release; empty for the archive.', max_length=300)),
                ('day', models.DateField()),
                ('n', models.PositiveIntegerField(default=0)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='downloads', to='releases.release')),
            ],
            options={
                'ordering': ['release', 'day', 'path'],
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(help_text='As shown on the leaderboard.', max_length=200)),
                ('description', models.TextField(blank=True)),
                ('coverage', models.JSONField(default=dict, help_text='Pairs, and how many of them it scores.')),
                ('results', models.JSONField(default=dict, help_text='By measure, on the public labels.')),
                ('hidden_results', models.JSONField(default=dict, help_text='On the hidden ones, rounded.')),
                ('scored_at', models.DateTimeField(blank=True, null=True)),
                ('is_published', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to=settings.AUTH_USER_MODEL)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='releases.release')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.UniqueConstraint(fields=('slug', 'major', 'minor', 'patch'), name='one_release_per_version'),
        ),
        migrations.AddConstraint(
            model_name='download',
            constraint=models.UniqueConstraint(fields=('release', 'path', 'day'), name='one_count_per_file_and_day'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['owner', 'created_at'], name='submission_of_owner'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.UniqueConstraint(condition=models.Q(('is_published', True)), fields=('release', 'name'), name='one_published_submission_per_name'),
        ),
    ]
