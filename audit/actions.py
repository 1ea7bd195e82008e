"""The vocabulary of the audit log."""

from __future__ import annotations

from django.db.models import TextChoices


class Action(TextChoices):
    """What can be done on the record; values are stored, so one is never given another meaning."""

    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGNED_OUT = "signed_out"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105  # none
    PASSWORD_LINK_MADE = "password_link_made"  # noqa: S105  # none
    SECOND_FACTOR_ADDED = "second_factor_added"
    SECOND_FACTOR_REMOVED = "second_factor_removed"
    RECOVERY_CODES_MADE = "recovery_codes_made"
    SECOND_FACTOR_FAILED = "second_factor_failed"
    SESSION_ENDED = "session_ended"
    PERSON_MADE = "person_made"
    PERSON_INVITED = "person_invited"
    PERSON_CHANGED = "person_changed"
    ROLE_CHANGED = "role_changed"
    ACCOUNT_CLOSED = "account_closed"
    ACCOUNT_OPENED = "account_opened"
    TOKEN_MADE = "token_made"  # noqa: S105  # none
    TOKEN_REVOKED = "token_revoked"  # noqa: S105  # none

    JOB_STARTED = "job_started"
    JOB_CANCELLED = "job_cancelled"
    JOB_RETRIED = "job_retried"
    JOB_DISMISSED = "job_dismissed"

    CATALOG_MADE = "catalog_made"
    CATALOG_IMPORT = "catalog_import"
    CATALOG_DELETED = "catalog_deleted"
    IMAGE_LEFT_OUT = "image_left_out"
    IMAGE_TAKEN_BACK = "image_taken_back"
    PRODUCTS_JOINED = "products_joined"
    PRODUCTS_PARTED = "products_parted"

    CAMPAIGN_MADE = "campaign_made"
    CAMPAIGN_OPENED = "campaign_opened"
    CAMPAIGN_PAUSED = "campaign_paused"
    CAMPAIGN_CLOSED = "campaign_closed"
    SETTINGS_CHANGED = "settings_changed"
    GUIDELINES_PUBLISHED = "guidelines_published"
    GUIDELINES_READ = "guidelines_read"
    COMMENT_ANSWERED = "comment_answered"
    QUESTIONS_ADDED = "questions_added"
    ROUND_OPENED = "round_opened"
    ROUNDS_STOPPED = "rounds_stopped"
    PANEL_ADDED = "panel_added"
    PANEL_REMOVED = "panel_removed"
    PANEL_RESTORED = "panel_restored"
    JUDGE_ADMITTED = "judge_admitted"
    GOLD_ADDED = "gold_added"
    GOLD_REMOVED = "gold_removed"
    ANSWERS_EXCLUDED = "answers_excluded"
    ANSWERS_ASKED_AGAIN = "answers_asked_again"
    ANSWERS_COUNTED_AGAIN = "answers_counted_again"
    JUDGE_PAUSED = "judge_paused"
    JUDGE_RESUMED = "judge_resumed"
    RULING_MADE = "ruling_made"
    RULING_WITHDRAWN = "ruling_withdrawn"
    JUDGEMENTS_IMPORTED = "judgements_imported"

    POOL_MADE = "pool_made"
    POOL_TOPPED_UP = "pool_topped_up"
    POOL_DEPTH_WITHDRAWN = "pool_depth_withdrawn"
    POOL_DELETED = "pool_deleted"

    TEXT_SPACE_DELETED = "text_space_deleted"
    EMBEDDING_MADE = "embedding_made"
    EMBEDDING_DELETED = "embedding_deleted"
    COMBINER_MADE = "combiner_made"
    COMBINER_DELETED = "combiner_deleted"
    NOTION_MADE = "notion_made"
    NOTION_DELETED = "notion_deleted"

    SET_MADE = "set_made"
    SET_DELETED = "set_deleted"
    # of sites on which templates and triplets had no campaigns yet
    VERIFICATION_OPENED = "verification_opened"
    VERIFICATION_CLOSED = "verification_closed"

    RUN_DELETED = "run_deleted"
    SUBMISSION_PUBLISHED = "submission_published"
    SUBMISSION_WITHDRAWN = "submission_withdrawn"
    SUBMISSION_DELETED = "submission_deleted"
    RELEASE_FROZEN = "release_frozen"
    RELEASE_SHOWN = "release_shown"
    RELEASE_HIDDEN = "release_hidden"
    RELEASE_DEPOSITED = "release_deposited"
    RELEASE_PUSHED = "release_pushed"

    WEBHOOK_ADDED = "webhook_added"
    WEBHOOK_REMOVED = "webhook_removed"
    NOTICES_CHOSEN = "notices_chosen"

    EXPORTED = "exported"
    DOWNLOADED = "downloaded"
    ACCESS_REFUSED = "access_refused"

    @property
    def words(self) -> str:
        """The action as a page says it."""
        return WORDS.get(self) or self.value.replace("_", " ").capitalize()


WORDS = {  # where the page of the act says it otherwise than what is stored
    Action.ACCOUNT_CLOSED: "Account deactivated",
    Action.ACCOUNT_OPENED: "Account reactivated",
}
