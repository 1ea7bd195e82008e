"""Write access to the cache server is not code execution in the web process."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path

import pytest
from django.core.cache import cache

from config.signed_cache import ForgedValueError, SignedSerializer


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


def test_a_pickle_planted_in_the_cache_server_is_not_run(tmp_path: Path) -> None:
    key = uuid.uuid4().hex
    planted = pickle.dumps(Payload(tmp_path / "run"))
    backend = cache._cache  # type: ignore[attr-defined]  # the connection that an attacker has
    backend.get_client(write=True).set(cache.make_and_validate_key(key), planted)
    with pytest.raises(ForgedValueError):
        cache.get(key)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("value", [0, 7, -1, True, None, "text", 1.5, {"a": [1, (2, "b")]}])
def test_values_return_as_they_were_stored(value: object) -> None:
    key = uuid.uuid4().hex
    cache.set(key, value)
    assert cache.get(key, "missing") == value
    assert type(cache.get(key, "missing")) is type(value)


def test_a_changed_or_shortened_value_is_refused() -> None:
    serializer = SignedSerializer()
    data = serializer.dumps("text")
    assert isinstance(data, bytes)
    for forged in (data[:-1], data[:20], b"", data[:-3] + b"\0" + data[-2:]):
        with pytest.raises(ForgedValueError):
            serializer.loads(forged)
