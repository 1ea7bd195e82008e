"""Cache values signed with the site's secret key, so that the cache server cannot inject code."""

from __future__ import annotations

import hmac
from typing import Any

from django.conf import settings
from django.core.cache.backends.redis import RedisSerializer
from redis.exceptions import RedisError

_ALGORITHM = "sha256"
_DIGEST_BYTES = 32


class ForgedValueError(RedisError):
    """A cached value does not carry this site's signature; it was never unpickled."""


class SignedSerializer(RedisSerializer):
    """Pickle values behind an HMAC.

    Integers stay plain text, because the server increments them.
    """

    def dumps(self, obj: Any) -> Any:
        """Return an integer as it is and anything else as signature + pickle."""
        data: Any = super().dumps(obj)
        return data if isinstance(data, int) else _signature(data) + data

    def loads(self, data: Any) -> Any:
        """Return a stored value.

        Raises:
            ForgedValueError: The signature is missing or wrong.
        """
        try:
            return int(data)
        except ValueError:
            pass
        signature, pickled = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if not hmac.compare_digest(signature, _signature(pickled)):
            raise ForgedValueError("A cached value is not signed by this site.")
        return super().loads(pickled)


def _signature(data: bytes) -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), b"cache:" + data, _ALGORITHM)
