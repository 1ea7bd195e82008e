"""Every door that takes names of pictures resolves them alike."""

from __future__ import annotations

import pytest

from annotation.queries.references import catalog_names, image_names
from catalog.image_names import names_of_contents, names_of_images
from catalog.models import SourceFile
from conditional.image_names import ImagesByName
from lookalike.io.image_names import UnknownImageError
from pooling.sources.image_names import Names

PATH = "H&M/blue + white 1.jpg"
WRITTEN = (
    "H%26M/blue%20%2B%20white%201.jpg",
    ".\\H&M\\blue + white 1.jpg",
    f"/data/local-files/?d={PATH}",
    f"file:///home/me/{PATH}",
    "blue + white 1.jpg",
    "blue + white 1",
)


@pytest.mark.django_db
def test_judgements_runs_pools_and_triplets_find_a_picture_by_the_same_names(campaign_of):
    campaign = campaign_of(1, 2, 1)
    image = campaign.questions.all()[0].query
    catalog = image.catalog
    SourceFile.objects.create(catalog=catalog, image=image, path=PATH)
    found = [
        [
            image_names(campaign)[0].find(name) == image.pk,
            catalog_names(campaign).find(name) == image.pk,
            names_of_images(catalog.images.all(), "it").find(name) == image.pk,
            names_of_contents([catalog]).find(name) == image.sha256,
            list(Names([catalog]).images(name)) == [image.pk],
            ImagesByName(catalog)[name] == image.pk,
        ]
        for name in WRITTEN
    ]
    assert found == [[True] * 6] * len(WRITTEN)
    for names in (Names([catalog]).images, names_of_contents([catalog]).find):
        with pytest.raises(UnknownImageError):
            names("nowhere.jpg")
    assert "nowhere.jpg" not in ImagesByName(catalog)
    assert "nowhere.jpg" in ImagesByName(catalog).why_not("nowhere.jpg")
