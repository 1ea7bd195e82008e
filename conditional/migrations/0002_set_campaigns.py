import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0005_task_kinds'),
        ('conditional', '0001_schema'),
    ]

    operations = [
        migrations.CreateModel(
            name='SetCampaign',
            fields=[
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='about', serialize=False, to='annotation.campaign')),
                ('template_set', models.ForeignKey(blank=True, help_text='Either this or a triplet set.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='conditional.templateset')),
                ('triplet_set', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='conditional.tripletset')),
            ],
            options={
                'ordering': ['-campaign'],
            },
        ),
        migrations.AddConstraint(
            model_name='setcampaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('template_set__isnull', False), ('triplet_set__isnull', True)), models.Q(('template_set__isnull', True), ('triplet_set__isnull', False)), _connector='OR'), name='about_templates_or_triplets'),
        ),
    ]
