"""The form that adds sources to a finished pool or lets its sources go deeper."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.form_refusals import add_refusal, sentence
from lookalike.core.errors import Refused
from pooling.models import Pool, PoolSource
from pooling.new_pool.parsing import depths_of
from pooling.sources.forms import SourcesForm
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_files import Upload
from pooling.top_up.services import TopUp, check_top_up


class TopUpForm(SourcesForm):
    """What shall come to a pool."""

    def __init__(self, pool: Pool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["models"].label = "New models"
        self.pool = pool
        self.sources = list(pool.sources.select_related("job"))
        for source in self.sources:
            if source.done_at is not None:
                self.fields[_field_of(source)] = forms.IntegerField(
                    required=False,
                    label=source.spec,
                    help_text=f"Proposed {source.k} for each query.",
                    widget=forms.NumberInput(attrs={"placeholder": source.k, "min": source.k + 1}),
                )

    @property
    def deeper_fields(self) -> list[forms.BoundField]:
        """The fields that ask each source how deep it shall go."""
        return [self[name] for name in self.fields if name.startswith("deeper_")]

    def clean(self) -> dict[str, Any]:
        """Check what is asked against the pool."""
        cleaned = super().clean() or {}
        uploads = [Upload(spec, "", "") for spec in self.upload_specs(cleaned)]
        if not self.errors:
            try:
                by_spec = {source.spec: source for source in self.sources}
                check_top_up(self.pool, by_spec, self._wanted(cleaned, uploads))
            except Refused as problem:
                self._refuse(problem)
        return cleaned

    def wanted(self) -> TopUp:
        """Return what was asked for, with its files checked and kept.

        What is wrong with a file stands beside its field; ask `is_valid()` afterwards.
        """
        return self._wanted(self.cleaned_data, self.take_uploads(RankingTask.of(self.pool)))

    def _wanted(self, cleaned: dict[str, Any], uploads: list[Upload]) -> TopUp:
        deeper = {
            source.spec: cleaned[_field_of(source)]
            for source in self.sources
            if cleaned.get(_field_of(source)) not in {None, source.k}
        }
        return TopUp(
            specs=[wish.spec for wish in cleaned["models"]],
            uploads=uploads,
            depths=depths_of(cleaned["models"]),
            deeper=deeper,
        )

    def _refuse(self, problem: Refused) -> None:
        """Put what a service refuses beside the field that it is about."""
        names = [_field_of(s) for s in self.sources if s.spec in problem.message.split()]
        if problem.field == "deeper" and names:
            self.add_error(names[0], sentence(problem.message))
        else:
            add_refusal(self, problem)


def _field_of(source: PoolSource) -> str:
    return f"deeper_{source.position}"
