"""The name of code follows its source, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.core.source import source_digest


def test_a_digest_follows_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    digests = []
    for name, text in [("first_code", "a = 1"), ("other_code", "a = 2"), ("same_code", "a = 1")]:
        (tmp_path / name / "below").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "below" / "deep.py").write_text(text)
        (tmp_path / name / "notes.txt").write_text(name)
        digests.append(source_digest(name))
    first, other, same = digests
    assert first == same != other
    assert source_digest("first_code", "other_code") not in digests


def test_code_that_is_not_there_has_none() -> None:
    with pytest.raises(ModuleNotFoundError, match="no package no_such_code"):
        source_digest("no_such_code")
