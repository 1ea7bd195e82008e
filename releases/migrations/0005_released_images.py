"""Withhold releases while judges see their images, whatever they are asked about them."""

import logging
from pathlib import Path
from typing import Any

import django.db.models.deletion
import pyarrow.parquet as pq
from django.conf import settings
from django.db import migrations, models

logger = logging.getLogger(__name__)

# Images on the screen of a judge: the pair, a template's gallery, both candidates of a triplet.
# Worked examples are no questions. {questions} has the columns of annotation_question.
SHOWN = """
    select q.campaign_id, i.image_id
    from (select * from {questions} where kind <> 'example') q
    join annotation_campaign c on c.id = q.campaign_id
    left join conditional_retrievaltemplate m on c.task_kind = 'template' and m.id = q.subject
    left join conditional_tripletquestion t on c.task_kind = 'triplet' and t.id = q.subject
    cross join lateral unnest(
        array[q.query_id, q.candidate_id, t.first_id, t.second_id] || m.gallery
    ) i (image_id)
    where i.image_id is not null
"""
NOTE = f"""
    insert into releases_askedrelease (release_id, campaign_id)
    select distinct r.release_id, s.campaign_id
    from (select distinct * from ({SHOWN}) every) s
    join catalog_image i on i.id = s.image_id
    join {{images}} r on r.sha256 = i.sha256
    on conflict do nothing;
"""
# A freeze waits for questions that are being added, and they wait for it; questions do not wait
# for each other. The statement after the lock sees what the other side has committed.
LOCK = 0x10_0CA1F
TRIGGERS = f"""
create function note_asked_releases() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared({LOCK});
    {NOTE.format(questions="added", images="releases_releasedimage")}
    return null;
end $$;
create trigger note_asked_releases after insert on annotation_question
    referencing new table as added for each statement execute function note_asked_releases();

create function note_asking_campaigns() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock({LOCK});
    {NOTE.format(questions="annotation_question", images="added")}
    return null;
end $$;
create trigger note_asking_campaigns after insert on releases_releasedimage
    referencing new table as added for each statement execute function note_asking_campaigns();

create function forget_asked_releases() returns trigger language plpgsql as $$
begin
    delete from releases_askedrelease a
    where a.campaign_id in (select campaign_id from removed) and not exists (
        select from ({SHOWN.format(questions="annotation_question")}) s
        join catalog_image i on i.id = s.image_id
        join releases_releasedimage r on r.sha256 = i.sha256
        where s.campaign_id = a.campaign_id and r.release_id = a.release_id
    );
    return null;
end $$;
create trigger forget_asked_releases after delete on annotation_question
    referencing old table as removed for each statement execute function forget_asked_releases();
"""
DROP = """
drop trigger note_asked_releases on annotation_question;
drop trigger note_asking_campaigns on releases_releasedimage;
drop trigger forget_asked_releases on annotation_question;
drop function note_asked_releases, note_asking_campaigns, forget_asked_releases;
"""
OF_CAMPAIGNS = """
insert into releases_releasedimage (release_id, sha256)
select distinct l.release_id, i.sha256
from releases_release_campaigns l join annotation_question q on q.campaign_id = l.campaign_id
join catalog_image asked on asked.id in (q.query_id, q.candidate_id)
join catalog_image i on i.catalog_id = asked.catalog_id
where l.release_id = %s
"""


def note_images(apps: Any, schema_editor: Any) -> None:
    """Record the images of existing releases, from their files, else of their catalogs."""
    named = apps.get_model("releases", "ReleasedImage")
    for release in apps.get_model("releases", "Release").objects.all():
        folder = f"{release.major}.{release.minor}.{release.patch}"
        files = Path(settings.DATA_DIR) / "releases" / release.slug / folder / "files"
        try:
            column = pq.read_table(files / "data" / "images.parquet", columns=["sha256"])
            named.objects.bulk_create(
                named(release=release, sha256=one) for one in column["sha256"].to_pylist()
            )
        except (OSError, ValueError, KeyError) as problem:
            logger.warning("Images of %s are taken from its catalogs: %s", release.slug, problem)
            with schema_editor.connection.cursor() as cursor:
                cursor.execute(OF_CAMPAIGNS, [release.pk])


def forget_counts(apps: Any, schema_editor: Any) -> None:
    """Leave no row without the count that the earlier schema requires."""
    apps.get_model("releases", "AskedRelease").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ("releases", "0004_submission_by_query"),
        ("annotation", "0019_own_rows_are_looked_up"),
        ("conditional", "0003_one_engine"),
        ("catalog", "0001_schema"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReleasedImage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64)),
                ("release", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="images", to="releases.release")),
            ],
            options={
                "indexes": [models.Index(fields=["release"], name="image_of_release")],
                "constraints": [models.UniqueConstraint(fields=("sha256", "release"), name="one_row_per_released_image")],
            },
        ),
        migrations.RemoveField("askedrelease", "n_pairs"),
        migrations.RunPython(migrations.RunPython.noop, forget_counts),
        migrations.RemoveConstraint("askedrelease", "one_count_per_release_and_campaign"),
        migrations.AddConstraint(
            "askedrelease",
            models.UniqueConstraint(fields=("release", "campaign"), name="one_row_per_release_and_campaign"),
        ),
        migrations.RunSQL(TRIGGERS, DROP),
        migrations.RunPython(note_images, migrations.RunPython.noop),
    ]
