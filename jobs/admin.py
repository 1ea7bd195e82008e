"""Background jobs in the back office, to look at; the pages of the apps start and cancel them."""

from __future__ import annotations

from django.contrib import admin

from accounts.admin import LookingAdmin
from jobs.models import Job


@admin.register(Job)
class JobAdmin(LookingAdmin):
    list_display = ["title", "state", "n_done", "n_total", "n_attempts", "worker", "created_at"]
    list_filter = ["state", "task"]
    search_fields = ["title", "subject", "uid"]
    date_hierarchy = "created_at"
