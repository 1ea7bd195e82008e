"""A real S3 protocol server in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from botocore.exceptions import ConnectionError as NotUp
from botocore.session import get_session

from catalog.images.storage_s3 import client_config
from tests.ports import free_port

BUCKET = "pictures"
KEYS = {"S3_ACCESS_KEY_ID": "test", "S3_SECRET_ACCESS_KEY": "test", "S3_REGION": "us-east-1"}


def client(url: str) -> Any:
    return get_session().create_client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=client_config(),
    )


@contextmanager
def object_storage() -> Iterator[str]:
    """Give the address of an S3 server that has one empty bucket."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            with suppress(NotUp):
                client(url).create_bucket(Bucket=BUCKET)
                break
            assert process.poll() is None
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()
