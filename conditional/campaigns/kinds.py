"""Templates and triplets as kinds of task that judges answer in campaigns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models.choices import PICK
from annotation.task_kinds import Consensus, Subject, TaskKind, pick_place
from conditional.models import RetrievalTemplate, SetCampaign, TripletQuestion
from conditional.template_sets.queries import shown_templates
from conditional.triplets.pictures import shown_questions
from lookalike.conditional.triplet_majority import Standing, decide_closer
from lookalike.conditional.types import Task
from lookalike.conditional.verdicts import PICK as PICKED
from lookalike.conditional.verdicts import Outcome, Vote, decide

TEMPLATE, TRIPLET = "template", "triplet"
PASSES, FAILS = "passes", "fails"
UNKNOWN_TARGET = -1  # whether a majority is for the target is not asked
PROMPTS = {
    Task.FOCUS_ATTRIBUTE: _("Which is like the reference in this:"),
    Task.CHANGE_ATTRIBUTE: _("Which is like the reference, but with this:"),
    Task.FOCUS_OBJECT: _("Which is like the reference and shows this, too:"),
    Task.CHANGE_OBJECT: _("Which is like the reference, but with this added:"),
    Task.COMPOSED: _("Which is the reference, changed like this:"),
}


def vote_of(answer: str) -> Vote:
    """Return an answer as the library counts it."""
    place = pick_place(answer)
    return Vote(answer) if place is None else Vote(PICKED, place)


def answer_of(vote: Vote) -> str:
    """Return a vote as campaigns store it."""
    return vote.choice if vote.picked is None else f"{PICK}{vote.picked}"


class TemplateKind(TaskKind):
    """Which image of a gallery fits reference and condition? Half of the panel and one decide."""

    name = TEMPLATE
    noun, nouns = "template", "templates"
    answers: Mapping[str, str] = {
        "none": "None of them",
        "several": "Several",
        "bad_condition": "Bad condition",
    }
    results_page = "conditional:results"
    judging_page = "conditional/judge_template.html"

    def subjects(self, ids: Collection[int]) -> Mapping[int, Subject]:
        """Return templates by their id."""
        return RetrievalTemplate.objects.select_related("template_set").in_bulk(ids)

    def prompt(self, campaign_id: int) -> str:
        """Return what the task of the set asks."""
        about = SetCampaign.objects.select_related("template_set").get(campaign=campaign_id)
        return str(PROMPTS[Task(about.template_set.task)]) if about.template_set else ""

    def words(self, answer: str, subject: Subject | None) -> str:
        """Name a picked image by its place, the target by what it is."""
        place = pick_place(answer)
        if answer in {PASSES, FAILS}:
            return answer.capitalize()
        if place is None or subject is None:
            return super().words(answer, subject)
        is_target = place == len(subject.candidates) - 1
        return "The target" if is_target else f"Image {place + 1}"

    def consensus(self, votes: Sequence[str], n_wanted: int, tie_rule: str) -> Consensus:
        """Return what more than half of all votes wanted say."""
        verdict = decide([vote_of(one) for one in votes], n_wanted, UNKNOWN_TARGET)
        answer = answer_of(verdict.answer) if verdict.answer else ""
        return Consensus(answer, verdict.outcome != Outcome.WAITING)

    def card(self, subject: Subject | None, votes: Mapping[str, int]) -> str:
        """Return the whole template with what was picked."""
        if not isinstance(subject, RetrievalTemplate):
            return ""
        [shown] = shown_templates([subject])
        picks = {
            place: n for answer, n in votes.items() if (place := pick_place(answer)) is not None
        }
        return render_to_string("conditional/_template.html", {"shown": shown, "picks": picks})

    def rulings(self, subject: Subject | None) -> dict[str, str]:
        """Return that it fails or passes."""
        return {FAILS: "It fails", PASSES: "It passes"}

    def gold_of_ruling(self, ruling: str, subject: Subject | None) -> str:
        """Return the target where a template passes."""
        if ruling != PASSES or subject is None:
            return "" if ruling in {PASSES, FAILS} else ruling
        return f"{PICK}{len(subject.candidates) - 1}"

    def takes(self, answer: str, subject: Subject | None) -> bool:
        """Return whether an answer picks one of the images, or is a word of the kind."""
        place = pick_place(answer)
        if place is None:
            return answer in self.answers
        return subject is not None and place < len(subject.candidates)


class TripletKind(TemplateKind):
    """Which of two images is more like the anchor? The side with more votes."""

    name = TRIPLET
    noun, nouns = "triplet", "triplets"
    answers: Mapping[str, str] = {"cant_tell": "Can’t tell"}
    judging_page = "conditional/judge_triplet.html"

    def subjects(self, ids: Collection[int]) -> Mapping[int, Subject]:
        """Return triplets by their id."""
        return TripletQuestion.objects.in_bulk(ids)

    def prompt(self, campaign_id: int) -> str:
        """Return the one question that triplets ask."""
        return gettext("Which of the two below is more like this image?")

    def words(self, answer: str, subject: Subject | None) -> str:
        """Name the candidates A and B, as pages for admins do."""
        place = pick_place(answer)
        return super().words(answer, None) if place is None else f"{'AB'[place]} is closer"

    def consensus(self, votes: Sequence[str], n_wanted: int, tie_rule: str) -> Consensus:
        """Return the side with more votes."""
        picks = [vote_of(one) for one in votes if one.startswith(PICK)]
        place = decide_closer(picks, len(picks)).place
        is_settled = decide_closer(picks, n_wanted).standing != Standing.WAITING
        return Consensus("" if place is None else f"{PICK}{place}", is_settled)

    def card(self, subject: Subject | None, votes: Mapping[str, int]) -> str:
        """Return the triplet with what was picked."""
        if not isinstance(subject, TripletQuestion):
            return ""
        [shown] = shown_questions([subject])
        for place, picture in enumerate(shown.pictures[1:]):
            n = votes.get(f"{PICK}{place}", 0)
            picture.note = f"{picture.role}: {n} vote{'' if n == 1 else 's'}"
        return render_to_string("conditional/_triplet.html", {"one": shown})

    def rulings(self, subject: Subject | None) -> dict[str, str]:
        """Return either side."""
        return {f"{PICK}{place}": f"{name} is closer" for place, name in enumerate("AB")}

    def gold_of_ruling(self, ruling: str, subject: Subject | None) -> str:
        """Return the ruling: it names a side."""
        return ruling

    def takes(self, answer: str, subject: Subject | None) -> bool:
        """Return whether an answer names a side."""
        return answer in self.rulings(subject)
