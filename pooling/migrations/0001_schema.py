"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('pooling', '0001_initial'),
        ('pooling', '0002_sources_and_changes'),
        ('pooling', '0003_candidate_rules'),
    ]

    dependencies = [
        ('annotation', '0001_schema'),
        ('catalog', '0001_schema'),
        ('jobs', '0001_schema'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('k', models.PositiveIntegerField(help_text='Depth.', validators=[django.core.validators.MinValueValidator(1)])),
                ('seed', models.PositiveBigIntegerField(default=0, help_text='Of the sampling of queries.')),
                ('query_rule', models.JSONField(default=dict, help_text='How the queries were chosen: sample, filters, or a list.')),
                ('exclude_same_product', models.BooleanField(default=True, help_text="Other images of a query's own product are no candidates.")),
                ('candidate_rule', models.JSONField(blank=True, default=dict, help_text='Which further images are no candidates.')),
                ('index', models.CharField(choices=[('exact', 'Exact: every vector is compared'), ('ivf', 'Approximate: an inverted-file index (faiss IVF), its recall measured')], default='exact', help_text='How the nearest vectors are found.', max_length=10)),
                ('stats', models.JSONField(default=dict, help_text='Of the sources that it names.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('catalog', models.ForeignKey(help_text='Candidates.', on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='catalog.catalog')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('query_catalog', models.ForeignKey(blank=True, help_text='Where the queries come from, if not from the same catalog (“wild” queries).', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pools_asking', to='catalog.catalog')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='PoolCampaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('opened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.campaign')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaign_links', to='pooling.pool')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='PoolSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('spec', models.CharField(max_length=300)),
                ('k', models.PositiveIntegerField(help_text='Its own depth.', validators=[django.core.validators.MinValueValidator(1)])),
                ('wanted_k', models.PositiveIntegerField(blank=True, help_text='A greater depth that was asked for and is not reached.', null=True)),
                ('file_name', models.CharField(blank=True, help_text='Of an upload, as given.', max_length=255)),
                ('file_sha256', models.CharField(blank=True, help_text='Of an upload.', max_length=64)),
                ('ids_sha256', models.CharField(blank=True, help_text="Of a .npy's list of ids.", max_length=64)),
                ('version', models.CharField(blank=True, help_text='What a plug-in said of itself when it proposed.', max_length=200)),
                ('recall', models.JSONField(blank=True, default=dict, help_text='Of an approximate index, against the exact search.')),
                ('n_proposals', models.PositiveBigIntegerField(default=0)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('embedding_set', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='catalog.embeddingset')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='jobs.job')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='pooling.pool')),
                ('query_embedding_set', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='catalog.embeddingset')),
            ],
            options={
                'ordering': ['pool', 'position'],
            },
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rank', models.PositiveIntegerField(help_text='From 0, the nearest, to k - 1.')),
                ('score', models.FloatField(help_text="The source's own similarity; may be negative.")),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.image')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='pooling.pool')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.image')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='pooling.poolsource')),
            ],
            options={
                'ordering': ['source', 'query', 'rank'],
            },
        ),
        migrations.CreateModel(
            name='PlannedShard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('image_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('embedding_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='planned_shards', to='catalog.embeddingset')),
                ('holder', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
            ],
            options={
                'ordering': ['embedding_set', 'position'],
                'constraints': [models.UniqueConstraint(fields=('embedding_set', 'position'), name='one_plan_per_position')],
            },
        ),
        migrations.CreateModel(
            name='PoolChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='From 1, the making of the pool.')),
                ('steps', models.JSONField(help_text='For each source: spec, k_before (0 for a new one) and k.')),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('n_proposals', models.PositiveBigIntegerField(default=0)),
                ('n_pairs_before', models.PositiveBigIntegerField(default=0)),
                ('n_new_pairs', models.PositiveBigIntegerField(default=0)),
                ('n_opened', models.PositiveBigIntegerField(default=0, help_text='Of the new pairs, put to the panels of campaigns at work.')),
                ('outcome', models.JSONField(default=dict, help_text='The difference that it made, by source.')),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='pooling.pool')),
            ],
            options={
                'ordering': ['pool', 'number'],
                'constraints': [models.UniqueConstraint(fields=('pool', 'number'), name='one_change_per_number')],
            },
        ),
        migrations.CreateModel(
            name='PoolQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.image')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queries', to='pooling.pool')),
            ],
            options={
                'ordering': ['pool', 'position'],
                'constraints': [models.UniqueConstraint(fields=('pool', 'image'), name='one_query_per_image'), models.UniqueConstraint(fields=('pool', 'position'), name='one_query_per_position')],
            },
        ),
        migrations.AddConstraint(
            model_name='poolsource',
            constraint=models.UniqueConstraint(fields=('pool', 'spec'), name='one_source_per_spec'),
        ),
        migrations.AddConstraint(
            model_name='poolsource',
            constraint=models.UniqueConstraint(fields=('pool', 'position'), name='one_source_per_position'),
        ),
        migrations.AddIndex(
            model_name='proposal',
            index=models.Index(fields=['pool', 'query', 'candidate'], name='proposal_pair'),
        ),
        migrations.AddConstraint(
            model_name='proposal',
            constraint=models.UniqueConstraint(fields=('source', 'query', 'rank'), name='one_proposal_per_rank'),
        ),
        migrations.AddConstraint(
            model_name='proposal',
            constraint=models.UniqueConstraint(fields=('source', 'query', 'candidate'), name='one_proposal_per_candidate'),
        ),
    ]
