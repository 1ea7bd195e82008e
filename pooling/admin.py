"""Pools in the back office, to look at; the pool pages make, fill and delete them."""

from __future__ import annotations

from django.contrib import admin

from accounts.admin import LookingAdmin
from pooling.models import Pool, PoolCampaign, PoolChange, PoolSource, Proposal


@admin.register(Pool)
class PoolAdmin(LookingAdmin):
    list_display = ["name", "catalog", "query_catalog", "k", "seed", "created_by", "created_at"]
    list_filter = ["catalog"]
    search_fields = ["name", "slug"]
    list_select_related = ["catalog", "query_catalog", "created_by"]


@admin.register(PoolSource)
class PoolSourceAdmin(LookingAdmin):
    list_display = ["spec", "pool", "k", "n_proposals", "file_name", "file_sha256", "done_at"]
    list_filter = ["pool"]
    search_fields = ["spec"]
    list_select_related = ["pool"]


@admin.register(Proposal)
class ProposalAdmin(LookingAdmin):
    list_display = ["query", "candidate", "source", "rank", "score"]
    list_filter = ["pool"]
    list_select_related = ["query", "candidate", "source"]
    show_full_result_count = False


@admin.register(PoolCampaign)
class PoolCampaignAdmin(LookingAdmin):
    list_display = ["pool", "campaign", "opened_at"]
    list_select_related = ["pool", "campaign"]


@admin.register(PoolChange)
class PoolChangeAdmin(LookingAdmin):
    list_display = ["pool", "number", "made_by", "made_at", "n_new_pairs", "n_opened"]
    list_filter = ["pool"]
    list_select_related = ["pool", "made_by"]
