"""Movie posters (Chu and Guo, 2017): `YEAR/ID.jpg`, and one JSON list of what is known of them."""

from __future__ import annotations

from pathlib import PurePosixPath

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

# The posters that Kobs et al. (WACV 2023), appendix 2.5, could read. No sum checks the number, and
# other counts are reported, never refused.
PUBLISHED = {"images": 8_052}


def read_movie_posters(source: Source) -> Layout:
    """Return the posters whose movie `all.json` describes: its first genre and first country.

    The published lists hold one object a movie, but are no JSON; the notebook of InDiReCT says
    how they become `all.json`, a list. Of a movie that is there twice the first counts.
    """
    lists = Lists(source, "Movie Posters")
    path = lists.find("all.json")
    listing = Listing(lists.title, path, PUBLISHED)
    movies = lists.json(path)
    if not isinstance(movies, list):
        raise FormatError(path, None, "it is no list of movies")
    known: dict[str, dict[str, str]] = {}
    for number, movie in enumerate(movies, 1):
        if not isinstance(movie, dict) or not isinstance(movie.get("imdbID"), str):
            raise FormatError(path, number, "a movie without imdbID", unit="entry")
        about = {"class": _first(movie.get("Genre")), "country": _first(movie.get("Country"))}
        known.setdefault(movie["imdbID"], about)
    for image in sorted(source.paths, key=lambda image: PurePosixPath(image).stem):
        if about := known.get(PurePosixPath(image).stem, {}):
            listing.add(image, "", about, 0)
    return listing.found_in(source)


def _first(names: object) -> str:
    return str(names or "").partition(",")[0].strip()
