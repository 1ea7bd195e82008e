from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0007_comments'),
    ]

    operations = [
        migrations.AddField(
            model_name='guideline',
            name='language',
            field=models.CharField(default='en', db_default='en', help_text='Of the text.', max_length=16),
        ),
        migrations.AddField(
            model_name='guideline',
            name='translations',
            field=models.JSONField(blank=True, default=dict, db_default={}, help_text='The same text by code of other languages.'),
        ),
    ]
