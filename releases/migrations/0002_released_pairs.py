"""Note of which pairs releases tell, so that they wait while a campaign asks them."""

from pathlib import Path

import django.db.models.deletion
import pyarrow.parquet as pq
from django.conf import settings
from django.db import migrations, models

PAIR = """('x' || left(md5(least(a.sha256 collate "C", b.sha256 collate "C")
    || greatest(a.sha256 collate "C", b.sha256 collate "C")), 16))::bit(64)::bigint"""
STORE = f"""
insert into releases_releasedpair (release_id, pair, shows_label, hides_label)
select %(release)s, pair, bool_or(is_judged and not is_hidden), bool_or(is_judged and is_hidden)
from (
    select {PAIR} as pair, left(a.sha256, %(n)s) = any(%(hidden)s) as is_hidden,
           exists (select from annotation_judgement j where j.question_id = q.id) as is_judged
    from annotation_question q
    join releases_release_campaigns l on l.campaign_id = q.campaign_id
    join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
    where l.release_id = %(release)s and q.kind = 'pair'
    union all
    select {PAIR}, false, false
    from pooling_proposal o
    join pooling_poolcampaign p on p.pool_id = o.pool_id
    join releases_release_campaigns l on l.campaign_id = p.campaign_id
    join catalog_image a on a.id = o.query_id join catalog_image b on b.id = o.candidate_id
    where l.release_id = %(release)s
) told group by pair
"""
ASKED = f"""
from annotation_question q join annotation_campaign c on c.id = q.campaign_id
join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
join releases_releasedpair p on p.pair = {PAIR}
"""
COUNT = f"""
insert into releases_askedrelease (release_id, campaign_id, n_pairs)
select p.release_id, q.campaign_id, count(distinct p.pair) {ASKED}
where c.state in ('open', 'paused') and q.kind <> 'example'
group by p.release_id, q.campaign_id
"""
HIDE = f"""
update annotation_campaign set keeps_labels_back = true where not keeps_labels_back and id in (
    select q.campaign_id {ASKED} where p.hides_label and q.kind = 'pair'
)
"""


def note_releases(apps, schema_editor):
    """Note the pairs of the releases there are; which labels they hide stands in their files."""
    with schema_editor.connection.cursor() as cursor:
        for release in apps.get_model("releases", "Release").objects.all():
            hidden = _hidden_queries(release) if release.hidden_results else []
            n = len(hidden[0]) if hidden else 64
            cursor.execute(STORE, {"release": release.pk, "hidden": hidden, "n": n})
        cursor.execute(COUNT)
        cursor.execute(HIDE)


def _hidden_queries(release):
    """Return the names of hidden queries, prefixes of their SHA-256."""
    folder = f"{release.major}.{release.minor}.{release.patch}"
    files = Path(settings.DATA_DIR) / "releases" / release.slug / folder / "files"
    path = files / "data" / "queries.parquet"
    rows = pq.read_table(path).to_pylist() if path.exists() else []
    return [row["query_id"] for row in rows if row["split"] == "hidden"]


class Migration(migrations.Migration):

    dependencies = [
        ("releases", "0001_schema"),
        ("annotation", "0001_schema"),
        ("catalog", "0001_schema"),
        ("pooling", "0001_schema"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReleasedPair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pair", models.BigIntegerField(help_text="Both pictures' hashes, in either order, as 64 bits.")),
                ("shows_label", models.BooleanField(help_text="It was judged, and the release says how.")),
                ("hides_label", models.BooleanField(help_text="It was judged, and the release keeps that back.")),
                ("release", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="pairs", to="releases.release")),
            ],
        ),
        migrations.CreateModel(
            name="AskedRelease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("n_pairs", models.PositiveIntegerField()),
                ("campaign", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.campaign")),
                ("release", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="asked_by", to="releases.release")),
            ],
            options={
                "ordering": ["release", "campaign"],
            },
        ),
        migrations.AddConstraint(
            model_name="releasedpair",
            constraint=models.UniqueConstraint(fields=("release", "pair"), name="one_row_per_released_pair"),
        ),
        migrations.AddIndex(
            model_name="releasedpair",
            index=models.Index(fields=["pair"], name="released_pair"),
        ),
        migrations.AddConstraint(
            model_name="askedrelease",
            constraint=models.UniqueConstraint(fields=("release", "campaign"), name="one_count_per_release_and_campaign"),
        ),
        migrations.RunPython(note_releases, migrations.RunPython.noop),
    ]
