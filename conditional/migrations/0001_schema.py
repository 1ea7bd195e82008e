"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

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

    initial = True

    replaces = [
        ('conditional', '0001_initial'),
        ('conditional', '0002_answers_are_append_only'),
        ('conditional', '0003_triplet_campaigns'),
        ('conditional', '0004_template_scores'),
        ('conditional', '0005_split_of_templates'),
        ('conditional', '0006_alignments'),
    ]

    dependencies = [
        ('catalog', '0001_schema'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='TemplateSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('task', models.CharField(choices=[('focus_attribute', 'Focus on an attribute'), ('change_attribute', 'Change an attribute'), ('focus_object', 'Focus on an object'), ('change_object', 'Change an object'), ('composed', 'Composed retrieval')], max_length=20)),
                ('source', models.CharField(help_text='catalog, genecis, cirr, …', max_length=40)),
                ('seed', models.BigIntegerField(blank=True, help_text='Of the draw, if drawn here.', null=True)),
                ('recipe', models.JSONField(default=dict, help_text='What the builder was asked for.')),
                ('report', models.JSONField(default=dict, help_text='How it came about: tries, rejections.')),
                ('defects', models.JSONField(default=list, help_text='Entries of the file that were left out.')),
                ('file_name', models.CharField(blank=True, max_length=300)),
                ('file_sha256', models.CharField(blank=True, help_text='Of the imported file.', max_length=64)),
                ('split', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='Image ids that templates without a gallery look among.', size=None)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('catalog', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='template_sets', to='catalog.catalog')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='RetrievalTemplate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('position', models.PositiveIntegerField(help_text='Place in the draw or in the file.')),
                ('condition', models.TextField()),
                ('gallery', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), help_text='Image ids of the distractors.', size=None)),
                ('kinds', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), help_text='One for each distractor.', size=None)),
                ('answer', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('boxes', models.JSONField(default=dict, help_text='{role: [left, top, width, height]}')),
                ('facts', models.JSONField(default=dict, help_text='What made the builder choose it.')),
                ('details', models.JSONField(default=dict, help_text='Further keys of the file, by role.')),
                ('reference', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('template_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='templates', to='conditional.templateset')),
            ],
            options={
                'ordering': ['template_set', 'position'],
            },
        ),
        migrations.CreateModel(
            name='TripletSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('source', models.CharField(choices=[('file', 'Imported'), ('suggested', 'Suggested'), ('campaign', 'Judged here')], default='file', max_length=10)),
                ('seed', models.BigIntegerField(blank=True, help_text='Of the draw, if suggested.', null=True)),
                ('recipe', models.JSONField(default=dict, help_text='What it was made from, and how.')),
                ('report', models.JSONField(default=dict, help_text='How it came about.')),
                ('file_name', models.CharField(blank=True, max_length=300)),
                ('file_sha256', models.CharField(blank=True, max_length=64)),
                ('defects', models.JSONField(default=list, help_text='Rows of the file that were left out.')),
                ('scale', models.JSONField(default=dict, help_text='{image id: known value}, if one is known.')),
                ('figures', models.JSONField(default=dict, help_text='Counted when it was stored.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('catalog', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='triplet_sets', to='catalog.catalog')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='TripletScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('metric', models.CharField(max_length=10)),
                ('figures', models.JSONField()),
                ('scored_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('embedding_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.embeddingset')),
                ('triplet_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='conditional.tripletset')),
            ],
            options={
                'ordering': ['triplet_set', 'id'],
            },
        ),
        migrations.CreateModel(
            name='TripletQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('position', models.PositiveIntegerField(help_text='Place in the draw or in the file.')),
                ('condition', models.TextField(blank=True)),
                ('facts', models.JSONField(default=dict, help_text='Why it was suggested.')),
                ('anchor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('triplet_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='conditional.tripletset')),
            ],
            options={
                'ordering': ['triplet_set', 'position'],
            },
        ),
        migrations.CreateModel(
            name='TripletAlignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('metric', models.CharField(max_length=10)),
                ('seed', models.BigIntegerField(help_text='Of the parts to fit on and to score on.')),
                ('inputs', models.JSONField(help_text='Hashes of the triplets and of every embedding set.')),
                ('inputs_sha256', models.CharField(max_length=64)),
                ('result', models.JSONField(help_text='As `lookalike.conditional.criterion.Criterion.as_json`.')),
                ('scored_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('triplet_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alignments', to='conditional.tripletset')),
            ],
            options={
                'ordering': ['triplet_set', '-scored_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Triplet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(help_text='Among the rows that were taken.')),
                ('condition', models.CharField(blank=True, max_length=200)),
                ('worker', models.CharField(blank=True, max_length=200)),
                ('is_swapped', models.BooleanField(default=False, help_text='Reversed on purpose in the file.')),
                ('anchor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('closer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('farther', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.image')),
                ('triplet_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='triplets', to='conditional.tripletset')),
            ],
            options={
                'ordering': ['triplet_set', 'position'],
            },
        ),
        migrations.CreateModel(
            name='Verification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=10)),
                ('seed', models.BigIntegerField(default=0, help_text='Of templates, orders and galleries.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('guidelines', models.TextField(blank=True, help_text='Markdown; judges read it.')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('template_set', models.ForeignKey(blank=True, help_text='Either this or a triplet set.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='verifications', to='conditional.templateset')),
                ('templates', models.ManyToManyField(related_name='verifications', to='conditional.retrievaltemplate')),
                ('triplet_set', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='verifications', to='conditional.tripletset')),
                ('triplets', models.ManyToManyField(related_name='verifications', to='conditional.tripletquestion')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='TemplateRuling',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('passes', models.BooleanField()),
                ('note', models.TextField(blank=True)),
                ('ruled_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('template', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='conditional.retrievaltemplate')),
                ('verification', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rulings', to='conditional.verification')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Verifier',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='On the panel, from 0; seeds the orders.')),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='verifying', to=settings.AUTH_USER_MODEL)),
                ('verification', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='conditional.verification')),
            ],
            options={
                'ordering': ['verification', 'number'],
            },
        ),
        migrations.CreateModel(
            name='VerifierAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(help_text='Made by the browser.', unique=True)),
                ('choice', models.CharField(choices=[('pick', 'One image'), ('none', 'None of them'), ('several', 'Several'), ('bad_condition', 'Bad condition'), ('cant_tell', 'Can’t tell'), ('withdrawn', 'Taken back')], max_length=15)),
                ('picked', models.PositiveSmallIntegerField(blank=True, help_text="Place among the question's candidates.", null=True)),
                ('device', models.CharField(max_length=10)),
                ('shown_at', models.DateTimeField(help_text="By the browser's clock.")),
                ('decided_at', models.DateTimeField(help_text="By the browser's clock.")),
                ('received_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('template', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='conditional.retrievaltemplate')),
                ('triplet', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='conditional.tripletquestion')),
                ('verifier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='conditional.verifier')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='TemplateScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(help_text='Spec of the model or embedding set.', max_length=300)),
                ('baseline', models.CharField(help_text='image, text or image_text', max_length=10)),
                ('is_normalised', models.BooleanField(default=False, help_text='Features were scaled to length 1 before they were combined.')),
                ('figures', models.JSONField(help_text='As `conditional.template_sets.recall_services.compute_figures`.')),
                ('scored_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('template_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='conditional.templateset')),
            ],
            options={
                'ordering': ['template_set', 'model', 'id'],
                'constraints': [models.UniqueConstraint(fields=('template_set', 'model', 'baseline', 'is_normalised'), name='one_score_per_baseline')],
            },
        ),
        migrations.AddIndex(
            model_name='retrievaltemplate',
            index=models.Index(fields=['template_set', 'condition'], name='conditional_templat_89aac3_idx'),
        ),
        migrations.AddConstraint(
            model_name='retrievaltemplate',
            constraint=models.UniqueConstraint(fields=('template_set', 'position'), name='one_template_per_position'),
        ),
        migrations.AddConstraint(
            model_name='tripletscore',
            constraint=models.UniqueConstraint(fields=('triplet_set', 'embedding_set', 'metric'), name='one_score_per_metric'),
        ),
        migrations.AddConstraint(
            model_name='tripletquestion',
            constraint=models.UniqueConstraint(fields=('triplet_set', 'position'), name='one_question_per_place'),
        ),
        migrations.AddConstraint(
            model_name='tripletquestion',
            constraint=models.UniqueConstraint(fields=('triplet_set', 'anchor', 'first', 'second', 'condition'), name='no_question_twice'),
        ),
        migrations.AddConstraint(
            model_name='tripletquestion',
            constraint=models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='candidates_by_id'),
        ),
        migrations.AddConstraint(
            model_name='tripletalignment',
            constraint=models.UniqueConstraint(fields=('triplet_set', 'inputs_sha256'), name='one_alignment_per_input'),
        ),
        migrations.AddConstraint(
            model_name='triplet',
            constraint=models.UniqueConstraint(fields=('triplet_set', 'position'), name='one_triplet_per_position'),
        ),
        migrations.AddConstraint(
            model_name='verification',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('template_set__isnull', False), ('triplet_set__isnull', True)), models.Q(('template_set__isnull', True), ('triplet_set__isnull', False)), _connector='OR'), name='templates_or_triplets'),
        ),
        migrations.AddConstraint(
            model_name='verifier',
            constraint=models.UniqueConstraint(fields=('verification', 'annotator'), name='one_verifier_per_person'),
        ),
        migrations.AddConstraint(
            model_name='verifier',
            constraint=models.UniqueConstraint(fields=('verification', 'number'), name='one_verifier_per_number'),
        ),
        migrations.AddIndex(
            model_name='verifieranswer',
            index=models.Index(fields=['verifier', 'template', '-id'], name='conditional_verifie_335c44_idx'),
        ),
        migrations.AddIndex(
            model_name='verifieranswer',
            index=models.Index(fields=['verifier', 'triplet', '-id'], name='answers_about_triplets'),
        ),
        migrations.AddConstraint(
            model_name='verifieranswer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('choice', 'pick'), ('picked__isnull', False)), models.Q(models.Q(('choice', 'pick'), _negated=True), ('picked__isnull', True)), _connector='OR'), name='a_pick_names_an_image'),
        ),
        migrations.AddConstraint(
            model_name='verifieranswer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('template__isnull', False), ('triplet__isnull', True)), models.Q(('template__isnull', True), ('triplet__isnull', False)), _connector='OR'), name='one_question_an_answer'),
        ),
        migrations.RunSQL(FORBID, ALLOW),
    ]
