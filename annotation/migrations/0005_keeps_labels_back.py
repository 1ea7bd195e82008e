from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0004_asking_order'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='keeps_labels_back',
            field=models.BooleanField(default=False, help_text='A release hides labels of it: its results are shown to admins alone.'),
        ),
    ]
