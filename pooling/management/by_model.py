"""What commands share that do one job for each of several models."""

from __future__ import annotations

import traceback
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from jobs.job_task import serve
from jobs.services import JobError
from jobs.work.commands import JobCommand
from pooling.sources.slow_models import slow_here


class ByModelCommand(JobCommand):
    """A command in which a model that fails is reported and does not stop the others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.failed: list[dict[str, str]] = []

    def try_model(
        self,
        spec: str,
        service: str,
        *,
        task: str,
        subject: str,
        title: str,
        arguments: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Do one model's job here; None when it failed, with the reason in `failed`.

        Args:
            spec: the model, for messages.
            service: dotted path of what does it. It loads torch, so it is imported only when
                there is something to do.

        Raises:
            CommandError: the person at the keyboard interrupted it.
        """
        if slow := slow_here(spec):
            self.stderr.write(self.style.WARNING(slow))
        work = partial(serve, service)
        try:
            return self.run_work(
                task=task, subject=subject, title=title, arguments=arguments, work=work
            )
        except CommandError as problem:
            if not isinstance(problem.__cause__, JobError):
                raise
            self._note(spec, str(problem))
        except Exception as problem:  # recorded here and in the job; the other models go on
            self.stderr.write(traceback.format_exc())
            self._note(spec, f"An error of the program: {type(problem).__name__}: {problem}")
        return None

    def _note(self, spec: str, error: str) -> None:
        self.failed.append({"model": spec, "error": error})
        self.stderr.write(f"{spec} failed: {error}")

    def end(self, n_models: int) -> None:
        """Make the exit code say that some model failed, after the result is printed."""
        if self.failed:
            names = ", ".join(row["model"] for row in self.failed)
            raise CommandError(f"{len(self.failed)} of {n_models} models failed: {names}.")
