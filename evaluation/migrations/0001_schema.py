"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('evaluation', '0001_initial'),
        ('evaluation', '0002_details_of_results'),
        ('evaluation', '0003_samples'),
    ]

    dependencies = [
        ('annotation', '0001_schema'),
        ('catalog', '0001_schema'),
        ('jobs', '0001_schema'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Result',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('code_version', models.CharField(max_length=100)),
                ('inputs', models.JSONField(help_text="SHA-256 of labels, votes, pool and each model's scores.")),
                ('settings', models.JSONField(help_text='Measures, seed, number of bootstraps.')),
                ('summary', models.JSONField(help_text="Labels, agreement, and each model's measures.")),
                ('bias', models.JSONField(default=dict, help_text="The report on the pool's bias.")),
                ('by_query', models.JSONField(default=dict, help_text='Measure, model, then a value per query.')),
                ('details_sha256', models.CharField(default='', help_text='Of the scores of pairs and heads of lists, a file.', max_length=64)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='annotation.campaign')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('aim', models.CharField(choices=[('total', 'How many similar pairs there are, and which part the pool holds'), ('validity', 'How clean unjudged pairs near the top of the lists are'), ('both', 'Both, half each')], max_length=8)),
                ('seed', models.PositiveBigIntegerField()),
                ('sources', models.JSONField(help_text="The pool's models at the time and their depths.")),
                ('n_pool_pairs', models.PositiveBigIntegerField(help_text='Pairs of the pool at the time.')),
                ('strata', models.JSONField(help_text='Of each: name, n_pairs, expected share, n_drawn.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(help_text='As shown on the leaderboard.', max_length=200)),
                ('family', models.CharField(blank=True, help_text='Backbone or training data it shares with other models; empty if none.', max_length=200)),
                ('description', models.TextField(blank=True)),
                ('sha256', models.CharField(help_text='Of the stored scores, a parquet file.', max_length=64)),
                ('coverage', models.JSONField(default=dict)),
                ('missing', models.CharField(default='error', help_text='What a missing score means: error or worst.', max_length=5)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='annotation.campaign')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['campaign', 'name'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='one_run_per_name')],
            },
        ),
        migrations.CreateModel(
            name='SampledPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stratum', models.PositiveSmallIntegerField(help_text="Its place among the sample's strata.")),
                ('inclusion', models.FloatField(help_text='The chance that it had to be drawn.')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='evaluation.sample')),
            ],
            options={
                'ordering': ['sample', 'id'],
                'constraints': [models.UniqueConstraint(fields=('sample', 'query', 'candidate'), name='one_draw_per_pair'), models.CheckConstraint(condition=models.Q(('inclusion__gt', 0), ('inclusion__lte', 1)), name='inclusion_is_a_chance')],
            },
        ),
    ]
