"""The words of judging: states, kinds of questions, answers and how they were given."""

from __future__ import annotations

from django.db import models


class CampaignState(models.TextChoices):
    """Where a campaign stands."""

    DRAFT = "draft", "Draft"
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class TieRule(models.TextChoices):
    """What a tied vote means."""

    NEGATIVE = "negative", "A tie is “different”"
    UNDECIDED = "undecided", "A tie is undecided"


class Serving(models.TextChoices):
    """Who gets which question."""

    EVERYONE = "everyone", "Everyone judges every pair"
    K_OF_N = "k_of_n", "Each pair is judged by k of the panel"


class AskingOrder(models.TextChoices):
    """In which order pairs are asked; each judge's is shuffled, if only within phases."""

    SHUFFLED = "shuffled", "Shuffled"
    PHASES = "phases", "Likely pairs first, in phases"


class QuestionKind(models.TextChoices):
    """Why a question is asked; only a `pair`, the panel's own question, votes.

    No judge can tell them apart.

    Training alone shows itself, since it gives feedback.
    """

    PAIR = "pair", "Pair of the pool"
    GOLD = "gold", "Silent gold"
    REPEAT = "repeat", "Silent repeat"
    MIRROR = "mirror", "Mirrored pair"
    TRAINING = "training", "Training with feedback"
    QUALIFICATION = "qualification", "Qualification"
    EXAMPLE = "example", "Worked example of the guidelines"


class Answer(models.TextChoices):
    """What a judge may say of a pair; other kinds of task have words of their own.

    The last four mean the same for every kind, and never vote. `withdrawn` takes an answer back.
    """

    SIMILAR = "similar", "Similar"
    DIFFERENT = "different", "Different"
    CANT_TELL = "cant_tell", "Can’t tell"
    SKIP = "skip", "Skip"
    LATER = "later", "Later"
    WITHDRAWN = "withdrawn", "Withdrawn"


VOTES = (Answer.SIMILAR, Answer.DIFFERENT)  # on pairs
NO_VOTES = (Answer.CANT_TELL, Answer.SKIP)
UNFINISHED = (Answer.LATER, Answer.WITHDRAWN)
PICK = "pick:"  # before the place of the image that is picked


class Reason(models.TextChoices):
    """Why a question was skipped."""

    NONE = "", "–"
    BAD_IMAGE = "bad_image", "Bad image"
    NOT_COMPARABLE = "not_comparable", "Not comparable"
    UNSURE = "unsure", "Unsure"
    POLICY = "policy", "Policy question"


class Mode(models.TextChoices):
    """How an answer was given."""

    PAIR = "pair", "Pair"
    SHEET = "sheet", "Sheet"
    CHOICE = "choice", "Choice"
    IMPORT = "import", "Import"


class Device(models.TextChoices):
    """What an answer was given with."""

    KEYBOARD = "keyboard", "Keyboard"
    MOUSE = "mouse", "Mouse"
    TOUCH = "touch", "Touch"
    NONE = "", "–"


class Stage(models.TextChoices):
    """How far a judge has come in a campaign."""

    TRAINING = "training", "Training"
    QUALIFICATION = "qualification", "Qualification"
    JUDGING = "judging", "Judging"
    NOT_QUALIFIED = "not_qualified", "Not qualified"


class EntryState(models.TextChoices):
    """Where one question of one judge's queue stands."""

    OPEN = "open", "To be answered"
    DONE = "done", "Answered"
    EXPIRED = "expired", "Lease ran out; served to others again"
    SETTLED = "settled", "No longer needed: the outcome cannot change"
