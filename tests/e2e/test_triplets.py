"""Triplets are suggested from a pool, judged by keyboard by three, decided, exported and kept."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign, Judgement, JudgementEvent, Question
from catalog.models import Catalog
from conditional.alignment.services import ALIGN_TASK
from conditional.campaigns.services import ask_panel
from conditional.models import TripletQuestion, TripletSet
from conditional.tasks import align, suggest
from conditional.triplets.suggest import SUGGEST_TASK
from jobs.models import Job
from lookalike.conditional.formats.tables import read_matrix
from tests.catalogs import catalog_of, embedding_set_of, pool_over
from tests.e2e.pages import in_themes, overflow, places_on, question_on, serious_problems
from tests.e2e.pictures import make_images
from tests.pooling.run_command import printed

N_QUERIES = 6
VOTES = ["111", "112", "222", "12?", "1??", "???"]  # of the three judges on each triplet


@pytest.fixture
def catalog(transactional_db: None) -> Catalog:
    """A finished pool: two models disagree about two candidates of each of six queries."""
    catalog = make_images(3 * N_QUERIES)[0].catalog
    scores = [
        {3 * q: {3 * q + 1: near, 3 * q + 2: 1 - near} for q in range(N_QUERIES)}
        for near in (0.9, 0.2)
    ]
    pool_over(catalog, scores, slug="pool", specs=("timm:first", "timm:second"))
    return catalog


def suggest_a_set(chief: Page) -> TripletSet:
    """Ask for triplets, look at the preview, and save."""
    chief.goto("/templates/")
    chief.get_by_role("link", name="Suggest triplets").click()
    chief.get_by_label("Name", exact=True).fill("Disagreements")
    chief.get_by_label("Where models are compared").select_option(value="pool:pool")
    chief.get_by_label("Conditions").fill("colour")
    preview = chief.locator("#preview article.triplet")
    expect(preview).to_have_count(N_QUERIES)
    expect(preview.first.get_by_text("“colour”")).to_be_visible()
    expect(preview.first.get_by_text("timm:second")).to_be_visible()
    assert serious_problems(chief) == []
    chief.get_by_role("button", name="Suggest and save").click()
    expect(chief.get_by_text("Suggest “Disagreements”")).to_be_visible()
    suggest(str(Job.objects.get(task=SUGGEST_TASK).uid))
    chief.reload()
    chief.get_by_role("link", name="Disagreements", exact=True).click()
    expect(chief.locator("article.triplet")).to_have_count(N_QUERIES)
    return TripletSet.objects.get()


def start_a_campaign(chief: Page, panel: list[User]) -> Campaign:
    chief.get_by_role("link", name="Start a campaign").click()
    for judge in panel:
        chief.get_by_label(judge.username).check()
    chief.get_by_label("Guidelines").fill("# What counts\n\nThe **main** colour.")
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    expect(chief.get_by_role("heading", name="Progress of each judge")).to_be_visible()
    return Campaign.objects.get()


def key_for(page: Page, question: Question, judge: int) -> str:
    """What a judge presses for the vote that `VOTES` gives them, wherever they see its side."""
    vote = VOTES[TripletQuestion.objects.get(pk=question.subject).position][judge]
    if vote == "?":
        return "c"
    keys = ("f", "j") if judge else ("ArrowLeft", "ArrowRight")
    return keys[places_on(page, question).index(int(vote) - 1)]


def judge_all(page: Page, judge: int) -> None:
    """Answer every triplet by keyboard; read the guidelines, and take the first answer back."""
    page.goto("/judge/")
    page.get_by_role("link", name="Start").click()
    for number in range(N_QUERIES):
        question = question_on(page)
        key = key_for(page, question, judge)
        if number == 0:
            expect(page.get_by_role("heading", name="What counts")).to_be_visible()
            page.keyboard.press(key)  # no answer while the guidelines are open
            page.get_by_role("button", name="Start judging").click()
            expect(page.get_by_role("heading", name="What counts")).to_be_hidden()
            page.keyboard.press(key)
            expect(page.locator("[data-part=count]")).to_have_text(f"1 of {N_QUERIES}")
            page.keyboard.press("u")
            assert question_on(page) == question
            page.wait_for_timeout(250)
        page.keyboard.press(key)
        page.wait_for_timeout(250)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.get_by_text("All answers saved")).to_be_visible()


@pytest.mark.daily
def test_triplets_are_suggested_judged_by_keyboard_and_exported(
    catalog: Catalog,
    make_person: Callable[..., User],
    open_page: Callable[..., Page],
    tmp_path: Path,
) -> None:
    panel = [make_person(name) for name in ("anna", "ben", "cleo")]
    chief = open_page(make_person("ada", Role.ADMIN), accept_downloads=True)
    assert suggest_a_set(chief).questions.count() == N_QUERIES
    start_a_campaign(chief, panel)
    for number, judge in enumerate(panel):
        judge_all(open_page(judge), number)
    assert Judgement.objects.count() == 3 * N_QUERIES
    assert JudgementEvent.objects.count() == 3 * (N_QUERIES + 2)
    chief.get_by_role("navigation", name="Campaign").get_by_role("link", name="Results").click()
    for words in ("Decided (4)", "Undecided (2)", "Waiting (0)"):
        expect(chief.get_by_role("link", name=words)).to_be_visible()
    expect(chief.locator("article.triplet .is-target")).to_have_count(4)
    expect(chief.locator(".tile", has_text="human ceiling")).to_contain_text("83.3")
    with chief.expect_download() as download:
        chief.get_by_role("link", name="Export the answers").click()
    download.value.save_as(tmp_path / "answers.csv")
    with (tmp_path / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert {row["condition"] for row in rows} == {"colour"}
    assert {row["worker"] for row in rows} == {"a01", "a02", "a03"}
    results = chief.url
    chief.get_by_role("link", name="Progress").click()
    chief.locator("#close-reason").fill("done")
    chief.on("dialog", lambda dialog: dialog.accept())
    chief.get_by_role("button", name="Close", exact=True).click()
    expect(chief.get_by_text("is closed.")).to_be_visible()
    chief.goto(results)
    chief.get_by_role("button", name="Keep the answers").click()
    expect(chief.get_by_text("The answers are kept as")).to_be_visible()
    expect(chief.get_by_text("83.3").first).to_be_visible()
    assert serious_problems(chief) == []


@in_themes
def test_touch_picks_too_pages_fit_a_phone_and_a_lost_network_loses_nothing(
    catalog: Catalog, make_person: Callable[..., User], open_page: Callable[..., Page], theme: str
) -> None:
    judge, admin = make_person("anna"), make_person("ada", Role.ADMIN)
    found = TripletSet.objects.create(
        slug="few", name="Few", catalog=catalog, figures={"n_questions": 4}
    )
    images = list(catalog.images.order_by("pk"))
    for position in range(4):
        anchor, first, second = images[3 * position : 3 * position + 3]
        found.questions.create(position=position, anchor=anchor, first=first, second=second)
    campaign = ask_panel(asked_set=found, name="Few", panel=[judge])
    page = open_page(judge, size="phone", theme=theme)
    page.goto(reverse("annotation:judge", args=[campaign.uid]))
    question = question_on(page)
    expect(page.get_by_text("Look only at")).to_be_hidden()
    assert overflow(page) <= 0
    assert serious_problems(page) == []
    sides = places_on(page, question)
    page.get_by_role("button", name="Right image").tap()
    expect(page.locator("[data-part=count]")).to_have_text("1 of 4")
    expect(page.get_by_text("All answers saved")).to_be_visible()
    [first_answer] = JudgementEvent.objects.all()
    assert (first_answer.answer, first_answer.device) == (f"pick:{sides[1]}", "touch")
    page.context.set_offline(True)
    sides = places_on(page, question_on(page))
    page.wait_for_timeout(300)  # a second answer at once would count as a double strike
    page.get_by_role("button", name="Left", exact=True).tap()
    expect(page.get_by_text("1 answer not saved yet")).to_be_visible()
    assert JudgementEvent.objects.count() == 1
    page.context.set_offline(False)
    expect(page.get_by_text("All answers saved")).to_be_visible(timeout=15_000)
    assert JudgementEvent.objects.order_by("pk")[1].answer == f"pick:{sides[0]}"
    chief = open_page(admin, size="phone", theme=theme)
    for address in (
        "/templates/",
        "/templates/suggest/",
        "/templates/triplets/few/",
        "/templates/triplets/few/judge/",
        "/templates/campaigns/few/",
        "/campaigns/few/adjudication/",
    ):
        chief.goto(address)
        assert overflow(chief) <= 0, address
        assert serious_problems(chief) == [], address


def triplets_of_three_conditions(tmp_path: Path) -> TripletSet:
    """Answers by three rulers over 40 images, and embedding sets of two of the rulers and a mix."""
    catalog = catalog_of([f"{number:03d}" for number in range(40)], "rulers")
    rng = np.random.default_rng(1)
    rulers = {name: rng.permutation(40) for name in ("colour", "heel height", "closure")}
    mix = np.stack(list(rulers.values()), axis=1).astype(np.float32)
    embedding_set_of(catalog, mix[:, :1] + 1, "timm:vit_small_patch16_224.augreg_in21k_ft_in1k")
    embedding_set_of(catalog, mix[:, 1:2] + 1, "timm:resnet18.a1_in1k")
    embedding_set_of(catalog, mix + 1, "descriptor:colour-histogram")
    lines = ["anchor,closer,farther,condition"]
    for condition, at in rulers.items():
        while sum(line.endswith(f",{condition}") for line in lines) < 60:
            a, b, c = rng.choice(40, 3, replace=False).tolist()
            line = f"{a:03d},{b:03d},{c:03d},{condition}"
            if abs(at[b] - at[a]) < abs(at[c] - at[a]) and line not in lines:
                lines.append(line)
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(lines) + "\n")
    printed("import_triplets", "Rulers", path, "--catalog", "rulers")
    return TripletSet.objects.get(slug="rulers")


def test_conditions_are_matched_with_embeddings_and_shown_on_every_screen(
    transactional_db: None,
    make_person: Callable[..., User],
    open_page: Callable[..., Page],
    tmp_path: Path,
) -> None:
    triplets_of_three_conditions(tmp_path)
    admin = make_person("chief", Role.ADMIN)
    page = open_page(admin)
    page.goto("/templates/triplets/rulers/")
    page.get_by_role("link", name="Match the 3 conditions with embeddings").click()
    boxes = page.locator("main").get_by_role("checkbox")
    expect(boxes).to_have_count(3)
    for box in boxes.all():
        box.check()
    page.get_by_label("Metric").select_option("euclidean")
    page.get_by_role("button", name="Match them").click()
    expect(page.get_by_text("Match conditions of “Rulers”")).to_be_visible()
    assert serious_problems(page) == []
    align(str(Job.objects.get(task=ALIGN_TASK).uid))
    for size, theme in (("desktop", "light"), ("phone", "dark")):
        shown = open_page(admin, size=size, theme=theme)
        shown.goto("/templates/triplets/rulers/alignment/")
        table = shown.get_by_role("table")
        expect(table.get_by_role("rowheader", name="timm:resnet18.a1_in1k")).to_be_visible()
        expect(table.get_by_role("columnheader", name="heel height")).to_be_visible()
        expect(table.get_by_text("matched", exact=True)).to_have_count(3)
        assert overflow(shown) <= 0
        assert serious_problems(shown) == []
    with shown.expect_download() as download:
        shown.get_by_role("link", name="Matrix (CSV)").click()
    matrix = read_matrix(download.value.path())
    assert matrix.conditions == ("closure", "colour", "heel height")
    assert matrix.values.max() == 1.0
