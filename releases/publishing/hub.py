"""Push a release to the Hugging Face Hub, file by file with its card, under a tag."""

from __future__ import annotations

from django.conf import settings
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from huggingface_hub.utils._validators import validate_repo_id

from audit.actions import Action
from audit.services import record
from lookalike.release.errors import ReleaseError
from releases.models import Release
from releases.publishing.checks import check_publishable
from releases.storage import files_folder


def check_pushable(release: Release, repo: str) -> None:
    """Return if a release may be pushed to a data set of that name.

    Raises:
        ReleaseError: it may not leave the site, or the name is none.
    """
    try:
        validate_repo_id(repo)
    except HFValidationError as problem:
        raise ReleaseError(f"“{repo}” is no name like museum/shoes: {problem}") from problem
    check_publishable(release)


def push(release: Release, repo: str, *, private: bool = False) -> str:
    """Make the data set if need be, let it hold this version alone, and tag it; return its page.

    Earlier versions stay under their tags. What is pushed is the sealed release, file by file.

    Raises:
        ReleaseError: it may not leave the site, or the hub refuses.
    """
    check_pushable(release, repo)
    if not settings.HUB_TOKEN:
        raise ReleaseError("Set HF_TOKEN to a token that may write.")
    api = HfApi(endpoint=settings.HUB_URL, token=settings.HUB_TOKEN)
    tag = f"v{release.version}"
    try:
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=files_folder(release),
            commit_message=str(release),
            delete_patterns="*",
        )
        api.create_tag(repo, repo_type="dataset", tag=tag, revision=commit.oid)
    except (HfHubHTTPError, OSError, ValueError) as problem:
        raise ReleaseError(f"{settings.HUB_URL} refused {repo}: {problem}") from problem
    record(None, Action.RELEASE_PUSHED, release, repo=repo, tag=tag)
    return f"{settings.HUB_URL}/datasets/{repo}/tree/{tag}"
