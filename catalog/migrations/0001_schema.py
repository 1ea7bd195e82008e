"""Create all tables of this app at once; replaces the migrations they grew by."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('catalog', '0001_initial'),
        ('catalog', '0002_catalog_changed_at'),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Catalog',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('is_rendered', models.BooleanField(default=False, help_text="Its images are drawn by the demo's generator, not photographed.")),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When an import last wrote an image of it.')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('spec', models.CharField(help_text='As the admin wrote it, e.g. timm:resnet18.', max_length=300)),
                ('fingerprint', models.CharField(help_text='Of weights, library version, transform, pooling and precision.', max_length=64)),
                ('card', models.JSONField(default=dict, help_text='Model card: what the fingerprint covers.')),
                ('dim', models.PositiveIntegerField()),
                ('is_complete', models.BooleanField(default=False, help_text='Every image of the catalog has a vector.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('catalog', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='embedding_sets', to='catalog.catalog')),
            ],
            options={
                'ordering': ['spec', 'id'],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingShard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('image_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('sha256', models.CharField(max_length=64)),
                ('dtype', models.CharField(max_length=10)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('embedding_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shards', to='catalog.embeddingset')),
            ],
            options={
                'ordering': ['embedding_set', 'position'],
            },
        ),
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('sha256', models.CharField(help_text="Of the file's bytes, hexadecimal.", max_length=64)),
                ('product_id', models.CharField(blank=True, db_index=True, help_text='Empty when not known.', max_length=200)),
                ('attributes', models.JSONField(default=dict, help_text='Attribute name to text.')),
                ('width', models.PositiveIntegerField(help_text='Pixels, after EXIF orientation.')),
                ('height', models.PositiveIntegerField(help_text='Pixels, after EXIF orientation.')),
                ('image_format', models.CharField(help_text='JPEG, PNG or WEBP.', max_length=8)),
                ('n_bytes', models.PositiveBigIntegerField()),
                ('perceptual_hash', models.CharField(help_text='64-bit pHash, hexadecimal.', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('catalog', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='catalog.catalog')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='NearDuplicate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('n_bits', models.PositiveSmallIntegerField(help_text='Hamming distance of the 64-bit pHashes.')),
                ('catalog', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='near_duplicates', to='catalog.catalog')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.image')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.image')),
            ],
            options={
                'ordering': ['n_bits', 'id'],
            },
        ),
        migrations.CreateModel(
            name='SourceFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(help_text='Relative, with forward slashes.', max_length=1000)),
                ('catalog', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='source_files', to='catalog.catalog')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='source_files', to='catalog.image')),
            ],
            options={
                'ordering': ['path'],
            },
        ),
        migrations.AddConstraint(
            model_name='embeddingset',
            constraint=models.UniqueConstraint(fields=('catalog', 'fingerprint'), name='one_set_per_fingerprint'),
        ),
        migrations.AddConstraint(
            model_name='embeddingshard',
            constraint=models.UniqueConstraint(fields=('embedding_set', 'position'), name='one_shard_per_position'),
        ),
        migrations.AddIndex(
            model_name='image',
            index=models.Index(fields=['catalog', 'product_id'], name='catalog_ima_catalog_f2b3f2_idx'),
        ),
        migrations.AddIndex(
            model_name='image',
            index=models.Index(fields=['catalog', 'perceptual_hash'], name='catalog_ima_catalog_138063_idx'),
        ),
        migrations.AddIndex(
            model_name='image',
            index=django.contrib.postgres.indexes.GinIndex(fields=['attributes'], name='image_attributes_gin'),
        ),
        migrations.AddConstraint(
            model_name='image',
            constraint=models.UniqueConstraint(fields=('catalog', 'sha256'), name='one_image_per_content'),
        ),
        migrations.AddConstraint(
            model_name='nearduplicate',
            constraint=models.UniqueConstraint(fields=('first', 'second'), name='one_row_per_near_duplicate'),
        ),
        migrations.AddConstraint(
            model_name='sourcefile',
            constraint=models.UniqueConstraint(fields=('catalog', 'path'), name='one_image_per_path'),
        ),
    ]
