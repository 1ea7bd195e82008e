"""Campaigns of releases that hide labels keep theirs back."""

from django.db import migrations


def keep_back(apps, schema_editor):
    releases = apps.get_model("releases", "Release").objects.exclude(hidden_results={})
    campaigns = apps.get_model("annotation", "Campaign").objects
    campaigns.filter(releases__in=releases).update(keeps_labels_back=True)


class Migration(migrations.Migration):
    dependencies = [
        ("releases", "0001_initial"),
        ("annotation", "0005_keeps_labels_back"),
    ]

    operations = [migrations.RunPython(keep_back, migrations.RunPython.noop)]
