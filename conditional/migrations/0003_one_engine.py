"""Turn verifications into campaigns: every question, seat, answer, undo and ruling, in order.

A campaign keeps the verification's uid, and its slug unless a campaign has it already. An answer
keeps its UUID and times. Of several rulings on a template the last one holds, as before; the
earlier ones stand in the campaign's history.
"""

from django.db import migrations

CAMPAIGNS = """
insert into annotation_campaign (uid, slug, name, state, task_kind, tie_rule, serving,
    asking_order, k, lease_minutes, closes_settled, repeat_percent, mirror_percent, pass_percent,
    seed, is_simulated, keeps_labels_back, guideline_version, n_questions, owner_id, created_at)
select v.uid,
    case when exists (select from annotation_campaign c where c.slug = v.slug)
         then left(v.slug, 71) || '-' || left(v.uid::text, 8) else v.slug end,
    v.name, v.state, case when v.triplet_set_id is null then 'template' else 'triplet' end,
    'undecided', 'everyone', 'shuffled', 3, 30, false, 0, 0, 80, greatest(v.seed, 0),
    exists (select from conditional_verifier m join accounts_user u on u.id = m.annotator_id
            where m.verification_id = v.id and u.is_simulated),
    false, 1,
    (select count(*) from conditional_verification_templates x where x.verification_id = v.id)
    + (select count(*) from conditional_verification_triplets x where x.verification_id = v.id),
    v.owner_id, v.created_at
from conditional_verification v order by v.id;

update conditional_tripletset s set recipe = jsonb_set(s.recipe, '{campaign}', to_jsonb(c.slug))
from conditional_verification v join annotation_campaign c on c.uid = v.uid
where s.recipe ->> 'campaign' = v.slug and c.slug <> v.slug;

insert into conditional_setcampaign (campaign_id, template_set_id, triplet_set_id)
select c.id, v.template_set_id, v.triplet_set_id
from conditional_verification v join annotation_campaign c on c.uid = v.uid;

insert into annotation_guideline (campaign_id, version, text, author_id, created_at)
select c.id, 1, v.guidelines, v.owner_id, v.created_at
from conditional_verification v join annotation_campaign c on c.uid = v.uid;

insert into annotation_panelmember (campaign_id, annotator_id, number, stage, is_active, n_total,
    n_done, last_place, claimed_to, joined_at)
select c.id, m.annotator_id, m.number + 1, 'judging', true, 0, 0, 0, 0, v.created_at
from conditional_verifier m join conditional_verification v on v.id = m.verification_id
join annotation_campaign c on c.uid = v.uid order by m.id;

insert into annotation_question (uid, campaign_id, query_id, candidate_id, subject, kind,
    position, phase, n_counted, n_free, is_settled)
select gen_random_uuid(), c.id, a.query_id, a.candidate_id, a.subject, 'pair',
    row_number() over (partition by c.id order by a.chance) - 1, 0, 0, 0, false
from (
    select x.verification_id, t.reference_id as query_id, t.target_id as candidate_id,
           t.id as subject, random() as chance
    from conditional_verification_templates x
    join conditional_retrievaltemplate t on t.id = x.retrievaltemplate_id
    union all
    select x.verification_id, t.anchor_id, t.first_id, t.id, random()
    from conditional_verification_triplets x
    join conditional_tripletquestion t on t.id = x.tripletquestion_id
) a
join conditional_verification v on v.id = a.verification_id
join annotation_campaign c on c.uid = v.uid order by c.id, a.chance;
"""
ANSWERS = """
create temporary table given on commit drop as
select a.id as number, a.uuid, p.id as member_id, q.id as question_id, a.device, a.shown_at,
    least(a.decided_at, a.received_at) as decided_at, a.received_at,
    case a.choice when 'pick' then 'pick:' || a.picked else a.choice end as answer,
    lag(a.uuid) over (partition by a.verifier_id, q.id order by a.id) as before
from conditional_verifieranswer a
join conditional_verifier m on m.id = a.verifier_id
join conditional_verification v on v.id = m.verification_id
join annotation_campaign c on c.uid = v.uid
join annotation_panelmember p on p.campaign_id = c.id and p.annotator_id = m.annotator_id
join annotation_question q on q.campaign_id = c.id
     and q.subject = coalesce(a.template_id, a.triplet_id);

insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode, device,
    guideline_version, undoes, shown_at, decided_at, received_at, visible_ms, load_ms)
select uuid, question_id, member_id, answer, '',
    case device when 'import' then 'import' else 'choice' end,
    case when device in ('keyboard', 'mouse', 'touch') then device else '' end, 1,
    case answer when 'withdrawn' then coalesce(before, uuid) end,
    least(shown_at, decided_at), decided_at, received_at,
    least(greatest(extract(epoch from decided_at - shown_at) * 1000, 0), 86400000)::int, 0
from given order by number;

create temporary table latest on commit drop as
select distinct on (g.member_id, g.question_id) g.*, e.id as event_id
from given g join annotation_judgementevent e on e.uuid = g.uuid
order by g.member_id, g.question_id, g.number desc;

insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
select question_id, member_id, event_id, answer, false
from latest where answer <> 'withdrawn' order by event_id;

insert into annotation_queueentry (member_id, question_id, position, place, stage, state,
    last_uuid, decided_at)
select member_id, question_id, place, place, 'judging', state, uuid, decided_at
from (
    select p.id as member_id, q.id as question_id, l.uuid, l.decided_at,
        case when l.answer <> 'withdrawn' then 'done' else 'open' end as state,
        row_number() over (partition by p.id order by l.number nulls last, random()) as place
    from annotation_campaign c
    join annotation_panelmember p on p.campaign_id = c.id
    join annotation_question q on q.campaign_id = c.id
    left join latest l on l.member_id = p.id and l.question_id = q.id
    where c.task_kind <> 'pair'
) placed;

update annotation_panelmember p set n_total = x.n, last_place = x.n, n_done = x.n_done
from (select member_id, count(*) as n, count(*) filter (where state = 'done') as n_done
      from annotation_queueentry group by 1) x, annotation_campaign c
where p.id = x.member_id and c.id = p.campaign_id and c.task_kind <> 'pair';
"""
RULINGS = """
insert into annotation_adjudication (question_id, answer, reason, decided_by_id, decided_at)
select distinct on (q.id) q.id, case when r.passes then 'passes' else 'fails' end,
    left(r.note, 500), r.by_id, r.ruled_at
from conditional_templateruling r
join conditional_verification v on v.id = r.verification_id
join annotation_campaign c on c.uid = v.uid
join annotation_question q on q.campaign_id = c.id and q.subject = r.template_id
order by q.id, r.id desc;

insert into annotation_statechange (campaign_id, before, after, reason, changed_by_id, changed_at)
select c.id, c.state, c.state,
    left('Ruled, and ruled otherwise since: template ' || t.position || ' '
         || case when r.passes then 'passes' else 'fails' end || '. ' || r.note, 500),
    r.by_id, r.ruled_at
from conditional_templateruling r
join conditional_verification v on v.id = r.verification_id
join annotation_campaign c on c.uid = v.uid
join conditional_retrievaltemplate t on t.id = r.template_id
where exists (select from conditional_templateruling later
              where later.verification_id = r.verification_id
                and later.template_id = r.template_id and later.id > r.id)
order by r.id;

set constraints all immediate;
"""
BACK = migrations.RunSQL.noop  # the old tables come back empty; campaigns stay what they are


class Migration(migrations.Migration):
    dependencies = [("conditional", "0002_set_campaigns"), ("accounts", "__first__")]

    operations = [
        migrations.RunSQL(CAMPAIGNS, BACK),
        migrations.RunSQL(ANSWERS, BACK),
        migrations.RunSQL(RULINGS, BACK),
        migrations.DeleteModel(name="TemplateRuling"),
        migrations.DeleteModel(name="VerifierAnswer"),
        migrations.DeleteModel(name="Verifier"),
        migrations.DeleteModel(name="Verification"),
        migrations.RunSQL("drop function if exists conditional_refuse_change()", BACK),
    ]
