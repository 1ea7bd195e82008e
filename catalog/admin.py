"""Catalogs in the back office, to look at; the catalog pages import and delete them."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import TabularInline

from accounts.admin import LookingAdmin, Unchangeable
from catalog.models import Catalog, EmbeddingSet, Image, NearDuplicate, SourceFile


class SourceFileInline(Unchangeable, TabularInline):
    """The paths under which an image came."""

    model = SourceFile
    fields = ["path"]
    extra = 0

    def has_view_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        """Let everybody look who may look at the image."""
        return True


@admin.register(Catalog)
class CatalogAdmin(LookingAdmin):
    list_display = ["name", "slug", "is_rendered", "created_at", "changed_at"]
    list_filter = ["is_rendered"]
    search_fields = ["name", "slug"]


@admin.register(Image)
class ImageAdmin(LookingAdmin):
    list_display = ["uid", "catalog", "product_id", "width", "height", "image_format", "created_at"]
    list_filter = ["catalog", "image_format"]
    search_fields = ["=uid", "product_id", "=sha256", "source_files__path"]
    list_select_related = ["catalog"]
    show_full_result_count = False
    inlines = [SourceFileInline]


@admin.register(NearDuplicate)
class NearDuplicateAdmin(LookingAdmin):
    list_display = ["first", "second", "n_bits", "catalog"]
    list_filter = ["catalog", "n_bits"]
    list_select_related = ["first", "second", "catalog"]


@admin.register(EmbeddingSet)
class EmbeddingSetAdmin(LookingAdmin):
    list_display = ["spec", "catalog", "dim", "is_complete", "created_at"]
    list_filter = ["catalog", "is_complete"]
    search_fields = ["spec", "fingerprint"]
    list_select_related = ["catalog"]
