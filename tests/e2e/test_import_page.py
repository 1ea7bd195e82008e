"""An admin imports triplets in the browser: what is wrong is listed, the good are kept, linked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Dialog, Page, expect

from accounts.models import Role, User
from conditional.models import TripletSet
from conditional.tasks import import_triplets
from jobs.models import Job
from tests.e2e.pages import overflow, serious_problems
from tests.e2e.pictures import make_images


def send(chief: Page, file: Path, *, keep_good: bool) -> None:
    """Fill in the form, and do the job as a worker does."""
    chief.get_by_label("Triplets: CSV").check()
    expect(chief.get_by_label("Task")).to_be_hidden()
    expect(chief.get_by_label("Only rows with")).to_be_visible()
    chief.get_by_label("Name", exact=True).fill("Answers")
    chief.get_by_label("Catalog", exact=True).select_option(index=1)
    chief.get_by_label("File", exact=True).set_input_files(file)
    chief.get_by_label("Keep the good entries").set_checked(keep_good)
    chief.get_by_role("button", name="Import").click()
    expect(chief.get_by_text("“Answers” is being imported")).to_be_visible()
    import_triplets(str(Job.objects.latest("pk").uid))


def test_wrong_rows_are_listed_and_the_good_are_kept(
    open_page: Callable[..., Page], make_person: Callable[..., User], tmp_path: Path
) -> None:
    uids = [str(image.uid) for image in make_images(6)]
    bad = [f"{uids[0]},{uids[1]},nobody-{number}.jpg" for number in range(20)]
    file = tmp_path / "answers.csv"
    file.write_text("\n".join(["anchor,closer,farther", ",".join(uids[:3]), *bad]) + "\n")
    chief = open_page(make_person("chief", role=Role.ADMIN))
    chief.goto("/templates/")
    chief.get_by_role("link", name="Import a file").first.click()
    expect(chief.get_by_label("File", exact=True)).to_be_visible()
    assert serious_problems(chief) == []
    send(chief, file, keep_good=False)
    told = chief.get_by_text("answers.csv: 20 of 21 entries cannot go in").first
    expect(told).to_be_visible()
    wrong = chief.get_by_role("group", name="All that is wrong")
    expect(wrong.get_by_text("entry 1: 'nobody-0.jpg' is no image of")).to_be_visible()
    assert not TripletSet.objects.exists()
    assert serious_problems(chief) == []
    phone = open_page(User.objects.get(), size="phone", theme="dark")
    phone.goto("/templates/import/")
    expect(phone.get_by_role("group", name="All that is wrong")).to_be_visible()
    assert overflow(phone) <= 0
    assert serious_problems(phone) == []
    send(chief, file, keep_good=True)
    chief.get_by_role("link", name="Answers", exact=True).click()
    expect(chief.locator("article.triplet")).to_have_count(1)
    questions: list[str] = []

    def accept(dialog: Dialog) -> None:
        questions.append(dialog.message)
        dialog.accept()

    chief.once("dialog", accept)
    chief.get_by_role("button", name="Delete").click()
    expect(chief.get_by_text("“Answers” is deleted.")).to_be_visible()
    assert not TripletSet.objects.exists()
    assert questions == ["Delete the triplets “Answers” with their answers and scores?"]
