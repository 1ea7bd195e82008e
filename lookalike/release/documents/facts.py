"""What the documents of a release are written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from lookalike.metrics.leaderboard_tables import SIMULATED
from lookalike.release.format.columns import Table
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MTEB_PATHS, has_sets, list_tables
from lookalike.release.mteb_tables import has_mteb


@dataclass(frozen=True)
class Facts:
    """Everything that a document may say.

    Attributes:
        info: release.json.
        models: models.json.
        statistics: statistics.json.
        results: results.json.
        guidelines: guidelines.json.
        findings: sentences of the bias report, empty without one.
        hashes: SHA-256 of each data file.
        conditional: conditional.json, empty where the release has no templates or triplets.
        filled: names of the tables that have rows.
        judged_days: the first and the last day of judging, empty where no time is known.
        mteb: the files in MTEB's layout by the name of their config, empty without queries.
    """

    info: dict[str, Any]
    models: list[dict[str, Any]]
    statistics: dict[str, Any]
    results: dict[str, Any]
    guidelines: list[dict[str, Any]]
    findings: list[str]
    hashes: Mapping[str, str]
    conditional: dict[str, Any]
    filled: frozenset[str]
    judged_days: list[str]
    mteb: Mapping[str, str]

    @classmethod
    def of(cls, folder: Folder, hashes: Mapping[str, str]) -> Facts:
        """Read them from a release folder, all but the documents."""
        return cls(
            info=folder.info,
            models=folder.models,
            statistics=folder.json("statistics.json"),
            results=folder.json("results.json"),
            guidelines=folder.json("guidelines.json"),
            findings=folder.json("bias.json")["findings"],
            hashes=hashes,
            conditional=folder.json("conditional.json") if has_sets(folder.info) else {},
            filled=frozenset(
                table.name
                for table in list_tables(folder.info)
                if pq.read_metadata(folder.path / table.path).num_rows
            ),
            judged_days=_judged_days(folder),
            mteb=_mteb(folder),
        )

    @property
    def tables(self) -> list[Table]:
        """The tables of the release."""
        return list_tables(self.info)

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.info['title']} {self.info['version']}"

    @property
    def is_simulated(self) -> bool:
        """Whether programs judged."""
        return any(one["is_simulated"] for one in self.info["campaigns"])

    @property
    def in_part(self) -> str:
        """What is to be known of a pool that rounds have judged in part; "" of any other."""
        if "judged" not in self.results:
            return ""
        return (
            f"Judged {percent(self.results['judged'])} of the pool, in rounds that drew pairs with "
            "unequal probabilities (data/rounds.parquet). All measures are estimates that make up "
            "for it, with intervals that hold the draw; a plain mean over the labels says nothing "
            "of the pool."
        )

    @property
    def abstract(self) -> str:
        """What it is, for those who see no more of it than this."""
        said = str(self.info["description"] or self.info["title"])
        return f"{SIMULATED} {said}" if self.is_simulated else said

    @property
    def judges(self) -> str:
        """Who judged, for a sentence."""
        n = self.statistics["n_judges"]
        kind = "simulated judge" if self.is_simulated else "judge"
        return f"{n} {kind}{'' if n == 1 else 's'}"


def _judged_days(folder: Folder) -> list[str]:
    times = folder.table("judgements", ["decided_at"])["decided_at"].unique().to_pylist()
    days = sorted({time[:10] for time in times if time})
    return days[:1] + days[-1:]


def _mteb(folder: Folder) -> dict[str, str]:
    if not has_mteb(folder.info):
        return {}
    corpus, queries = MTEB_PATHS
    has_queries = pq.read_metadata(folder.path / queries).num_rows > 0
    return {"corpus": corpus, "query": queries} if has_queries else {}


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for a table, a dash where undefined."""
    return "–" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """Return a share in percent, a dash where undefined."""
    return "–" if value is None else f"{100 * value:.1f} %"


INTERVALS_OF_AGREEMENT = (
    "In brackets: 95 % intervals over other items with the same judges, then with another panel of "
    "as many judges. Items of one product are one unit."
)


def interval_words(found: Mapping[str, Any], key: str) -> str:
    """Return the intervals of a figure of agreement in brackets, "" in releases without them."""
    if "intervals" not in found:
        return ""
    shown = percent if key == "percent" else number
    items, judges = (found["intervals"][key][of] for of in ("items", "items_and_judges"))
    if items["low"] is None:
        return f" (no interval: {items.get('reason', 'undefined')})"
    ends = [
        f"{shown(of['low'])} to {shown(of['high'])}"
        for of in (items, judges)
        if of["low"] is not None
    ]
    return f" ({'; '.join(ends)})"


def program(facts: Facts) -> str:
    """Return where the program is that reads a release."""
    where = facts.info["url"] or "the site that froze this release"
    return (
        "The program `lookalike` is a Python package. It comes with the source of "
        f"the site, which {where} or the authors give; `pip install .` installs it there."
    )
