"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

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

    initial = True

    replaces = [
        ('annotation', '0001_initial'),
        ('annotation', '0002_events_are_append_only'),
        ('annotation', '0003_control_index'),
        ('annotation', '0004_asking_order'),
        ('annotation', '0005_keeps_labels_back'),
    ]

    dependencies = [
        ('catalog', '0001_schema'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='draft', max_length=10)),
                ('tie_rule', models.CharField(choices=[('negative', 'A tie is “different”'), ('undecided', 'A tie is undecided')], default='negative', max_length=10)),
                ('serving', models.CharField(choices=[('everyone', 'Everyone judges every pair'), ('k_of_n', 'Each pair is judged by k of the panel')], default='everyone', max_length=10)),
                ('asking_order', models.CharField(choices=[('shuffled', 'Shuffled'), ('phases', 'Likely pairs first, in phases')], default='shuffled', max_length=10)),
                ('k', models.PositiveSmallIntegerField(default=3, help_text='Votes wanted for each pair when k of the panel judge it.')),
                ('lease_minutes', models.PositiveSmallIntegerField(default=30, help_text='A pair not answered for so long is offered to others.')),
                ('closes_settled', models.BooleanField(default=False, help_text='Stop asking a pair once its outcome can no longer change.')),
                ('repeat_percent', models.PositiveSmallIntegerField(default=0, help_text='Pairs asked a second time, silently, in percent.')),
                ('mirror_percent', models.PositiveSmallIntegerField(default=0, help_text='Pairs asked again with query and candidate swapped, in percent.')),
                ('pass_percent', models.PositiveSmallIntegerField(default=80, help_text='Share of the qualification round that must agree with the gold.')),
                ('seed', models.PositiveBigIntegerField(default=0, help_text='Fixes every order and sample.')),
                ('is_simulated', models.BooleanField(default=False, help_text='At least one judge of the panel is a program.')),
                ('labels_hidden', models.BooleanField(db_column='keeps_labels_back', default=False, help_text='A release hides labels of it: its results are shown to admins alone.')),
                ('guideline_version', models.PositiveIntegerField(default=1, help_text='The one in force.')),
                ('n_questions', models.PositiveIntegerField(default=0, help_text='Pairs that vote.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='owned_campaigns', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField(blank=True, help_text='Markdown.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='annotation.campaign')),
            ],
            options={
                'ordering': ['campaign', '-version'],
            },
        ),
        migrations.CreateModel(
            name='PanelMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='Place on the panel, from 1.')),
                ('stage', models.CharField(choices=[('training', 'Training'), ('qualification', 'Qualification'), ('judging', 'Judging'), ('not_qualified', 'Not qualified')], default='judging', max_length=14)),
                ('is_active', models.BooleanField(default=True, help_text='Off: may not judge any more.')),
                ('n_total', models.PositiveIntegerField(default=0, help_text='Questions in the queue.')),
                ('n_done', models.PositiveIntegerField(default=0, help_text='Of these, answered.')),
                ('last_place', models.PositiveBigIntegerField(default=0, help_text='End of the queue.')),
                ('claimed_to', models.PositiveIntegerField(default=0, help_text='k of n: the question position up to which this judge has claimed.')),
                ('joined_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='annotation.campaign')),
            ],
            options={
                'ordering': ['campaign', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Preference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('keys', models.JSONField(default=dict, help_text='Action to key, both from fixed lists.')),
                ('mode', models.CharField(choices=[('pair', 'Pair'), ('sheet', 'Sheet')], default='pair', max_length=6)),
                ('annotator', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='judging_preference', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(choices=[('pair', 'Pair of the pool'), ('gold', 'Silent gold'), ('repeat', 'Silent repeat'), ('mirror', 'Mirrored pair'), ('training', 'Training with feedback'), ('qualification', 'Qualification'), ('example', 'Worked example of the guidelines')], default='pair', max_length=13)),
                ('position', models.PositiveIntegerField()),
                ('phase', models.PositiveSmallIntegerField(default=0, help_text='Pairs of lower phases are asked first; never shown.')),
                ('n_counted', models.PositiveSmallIntegerField(default=0, help_text='k of n: votes that count.')),
                ('n_free', models.SmallIntegerField(default=0, help_text='k of n: votes still wanted and not leased to anyone.')),
                ('is_settled', models.BooleanField(default=False, help_text='Closed early: the outcome can no longer change.')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='annotation.campaign')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='asked_as_candidate', to='catalog.image')),
                ('original', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='controls', to='annotation.question')),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='asked_as_query', to='catalog.image')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='JudgementEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(unique=True)),
                ('answer', models.CharField(choices=[('similar', 'Similar'), ('different', 'Different'), ('cant_tell', 'Can’t tell'), ('skip', 'Skip'), ('later', 'Later'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('reason', models.CharField(blank=True, choices=[('', '–'), ('bad_image', 'Bad image'), ('not_comparable', 'Not comparable'), ('unsure', 'Unsure'), ('policy', 'Policy question')], max_length=15)),
                ('mode', models.CharField(choices=[('pair', 'Pair'), ('sheet', 'Sheet'), ('import', 'Import')], max_length=6)),
                ('device', models.CharField(blank=True, choices=[('keyboard', 'Keyboard'), ('mouse', 'Mouse'), ('touch', 'Touch'), ('', '–')], max_length=8)),
                ('guideline_version', models.PositiveIntegerField()),
                ('undoes', models.UUIDField(blank=True, null=True)),
                ('shown_at', models.DateTimeField(blank=True, null=True)),
                ('decided_at', models.DateTimeField(help_text="By the judge's clock, never later than received.")),
                ('received_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('visible_ms', models.PositiveIntegerField(default=0, help_text='Pair on screen, tab visible.')),
                ('load_ms', models.PositiveIntegerField(default=0, help_text='Waiting for its images.')),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='events', to='annotation.panelmember')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotation.question')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.CharField(choices=[('similar', 'Similar'), ('different', 'Different'), ('cant_tell', 'Can’t tell'), ('skip', 'Skip'), ('later', 'Later'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('is_surplus', models.BooleanField(default=False, help_text='k of n: came after k votes; kept, exported, not counted.')),
                ('event', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.judgementevent')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='judgements', to='annotation.panelmember')),
                ('question', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='annotation.question')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Gold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.CharField(choices=[('similar', 'Similar'), ('different', 'Different'), ('cant_tell', 'Can’t tell'), ('skip', 'Skip'), ('later', 'Later'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('why', models.CharField(blank=True, help_text='Shown in training and examples.', max_length=500)),
                ('source', models.CharField(choices=[('admin', 'Set by an admin'), ('consensus', 'Unanimous in an earlier campaign')], default='admin', max_length=10)),
                ('question', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gold', to='annotation.question')),
            ],
        ),
        migrations.CreateModel(
            name='Adjudication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.CharField(choices=[('similar', 'Similar'), ('different', 'Different'), ('cant_tell', 'Can’t tell'), ('skip', 'Skip'), ('later', 'Later'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('reason', models.CharField(max_length=500)),
                ('decided_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('question', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='adjudication', to='annotation.question')),
            ],
        ),
        migrations.CreateModel(
            name='QueueEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveBigIntegerField(help_text='Order in which it was drawn, from 1.')),
                ('place', models.PositiveBigIntegerField()),
                ('stage', models.CharField(choices=[('training', 'Training'), ('qualification', 'Qualification'), ('judging', 'Judging'), ('not_qualified', 'Not qualified')], default='judging', max_length=14)),
                ('state', models.CharField(choices=[('open', 'To be answered'), ('done', 'Answered'), ('expired', 'Lease ran out; served to others again'), ('settled', 'No longer needed: the outcome cannot change')], default='open', max_length=8)),
                ('lease_until', models.DateTimeField(blank=True, help_text='k of n only.', null=True)),
                ('last_uuid', models.UUIDField(blank=True, help_text='Of the event that counts.', null=True)),
                ('decided_at', models.DateTimeField(blank=True, help_text='Of that event.', null=True)),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queue', to='annotation.panelmember')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='annotation.question')),
            ],
            options={
                'ordering': ['member', 'place'],
            },
        ),
        migrations.CreateModel(
            name='StateChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('before', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], max_length=10)),
                ('after', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], max_length=10)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='state_changes', to='annotation.campaign')),
                ('changed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('k__gte', 1)), name='campaign_k_at_least_1'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('mirror_percent__lte', 50), ('pass_percent__lte', 100), ('repeat_percent__lte', 50)), name='campaign_percent_in_range'),
        ),
        migrations.AddConstraint(
            model_name='guideline',
            constraint=models.UniqueConstraint(fields=('campaign', 'version'), name='one_guideline_per_version'),
        ),
        migrations.AddConstraint(
            model_name='panelmember',
            constraint=models.UniqueConstraint(fields=('campaign', 'annotator'), name='one_membership_per_annotator'),
        ),
        migrations.AddIndex(
            model_name='question',
            index=models.Index(condition=models.Q(('n_free__gt', 0)), fields=['campaign', 'position'], name='question_free'),
        ),
        migrations.AddIndex(
            model_name='question',
            index=models.Index(condition=models.Q(('kind', 'pair'), _negated=True), fields=['campaign', 'kind'], name='question_control'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.UniqueConstraint(fields=('campaign', 'query', 'candidate', 'kind'), name='one_question_per_pair'),
        ),
        migrations.AddIndex(
            model_name='judgementevent',
            index=models.Index(fields=['member', 'id'], name='event_of_member'),
        ),
        migrations.AddConstraint(
            model_name='judgementevent',
            constraint=models.CheckConstraint(condition=models.Q(('answer__in', ['similar', 'different', 'cant_tell', 'skip', 'later', 'withdrawn'])), name='event_answer_is_known'),
        ),
        migrations.AddConstraint(
            model_name='judgementevent',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('answer', 'withdrawn'), ('undoes__isnull', False)), models.Q(('undoes__isnull', True), models.Q(('answer', 'withdrawn'), _negated=True)), _connector='OR'), name='only_a_withdrawal_undoes'),
        ),
        migrations.AddConstraint(
            model_name='judgement',
            constraint=models.UniqueConstraint(fields=('question', 'member'), name='one_judgement_per_judge'),
        ),
        migrations.AddConstraint(
            model_name='judgement',
            constraint=models.CheckConstraint(condition=models.Q(('answer__in', ['similar', 'different', 'cant_tell', 'skip'])), name='judgement_answer_is_final'),
        ),
        migrations.AddConstraint(
            model_name='gold',
            constraint=models.CheckConstraint(condition=models.Q(('answer__in', ('similar', 'different'))), name='gold_is_similar_or_different'),
        ),
        migrations.AddConstraint(
            model_name='adjudication',
            constraint=models.CheckConstraint(condition=models.Q(('answer__in', ('similar', 'different'))), name='ruling_is_similar_or_different'),
        ),
        migrations.AddIndex(
            model_name='queueentry',
            index=models.Index(condition=models.Q(('state', 'open')), fields=['member', 'place'], name='entry_open'),
        ),
        migrations.AddIndex(
            model_name='queueentry',
            index=models.Index(condition=models.Q(('lease_until__isnull', False), ('state', 'open')), fields=['lease_until'], name='entry_leased'),
        ),
        migrations.AddConstraint(
            model_name='queueentry',
            constraint=models.UniqueConstraint(fields=('member', 'question'), name='one_entry_per_question'),
        ),
        migrations.RunSQL(FORBID, ALLOW),
    ]
