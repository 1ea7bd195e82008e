"""Files that desktops, cameras and network disks leave in folders and archives."""

from __future__ import annotations

# Names of files and folders, in lower case: Windows, macOS, Synology, QNAP, Linux, Picasa, Office
_NAMES = frozenset(
    {
        *("thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "$recycle.bin"),
        *("recycler", "system volume information", "zbthumbnail.info", "picasa.ini"),
        *("__macosx", "icon\r", "network trash folder", "temporary items"),
        *("@eadir", "#recycle", "#snapshot", "@recycle", "@recently-snapshot", "@sharebin"),
        *("@tmp", "lost+found"),
    }
)
_STARTS = (".", "~$", "synophoto_thumb", "synofile_thumb")  # hidden, open in Office, previews
_ENDS = ("@synoeastream", "@synoresource", "zone.identifier")


def is_junk(path: str) -> bool:
    """Whether a file was left by a system and not put there by a person.

    Args:
        path: relative, parts separated by slashes or backslashes.

    >>> is_junk("shoes/@eaDir/a.jpg/SYNOPHOTO_THUMB_M.jpg"), is_junk("shoes/a (1).jpg")
    (True, False)
    """
    parts = [part.lower() for part in path.replace("\\", "/").split("/") if part not in {".", ""}]
    return any(
        part in _NAMES or (part.startswith(_STARTS) and part != "..") or part.endswith(_ENDS)
        for part in parts
    )
