"""Read a published data set by the name of its layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lookalike.images.layouts.cars import read_cars
from lookalike.images.layouts.cirr import read_cirr_images
from lookalike.images.layouts.cub import NAMES_OF_ATTRIBUTES, read_cub
from lookalike.images.layouts.deepfashion import (
    read_consumer_to_shop,
    read_deepfashion_attributes,
    read_deepfashion_fine,
    read_in_shop,
)
from lookalike.images.layouts.fiftyone import read_fiftyone
from lookalike.images.layouts.hugging_face import open_hugging_face, read_hugging_face
from lookalike.images.layouts.layout import Layout
from lookalike.images.layouts.mit_states import read_mit_states
from lookalike.images.layouts.movie_posters import read_movie_posters
from lookalike.images.layouts.online_products import read_online_products
from lookalike.images.layouts.synthetic_cars import read_synthetic_cars
from lookalike.images.metadata import Metadata, Row, make_row
from lookalike.images.sources import FolderSource, Source, open_source


@dataclass(frozen=True)
class KnownLayout:
    """A layout of a published data set.

    Attributes:
        title: for people.
        read: its reader.
        opener: opens its folder or zip.
        neighbours: names of files that its archive unpacks next to the folder.
    """

    title: str
    read: Callable[[Source], Layout]
    opener: Callable[[Path, str | None, str], Source] = open_source
    neighbours: tuple[str, ...] = ()

    def open(
        self,
        path: Path,
        name: str | None = None,
        names_encoding: str = "",
        *,
        with_neighbours: bool = True,
    ) -> Source:
        """Open its folder or zip; arguments and errors as `open_source`.

        Args:
            path: as `open_source`.
            name: as `open_source`.
            names_encoding: as `open_source`.
            with_neighbours: also list the files next to the folder that the archive puts there.
        """
        source = self.opener(path, name, names_encoding)
        if with_neighbours and isinstance(source, FolderSource):
            for neighbour in self.neighbours:
                source.include_neighbour(neighbour)
        return source


LAYOUTS = {
    "in-shop": KnownLayout("DeepFashion In-shop", read_in_shop),
    "consumer-to-shop": KnownLayout("DeepFashion Consumer-to-shop", read_consumer_to_shop),
    "deepfashion-attributes": KnownLayout("DeepFashion attributes", read_deepfashion_attributes),
    "deepfashion-fine": KnownLayout("DeepFashion attributes, fine", read_deepfashion_fine),
    "sop": KnownLayout("Stanford Online Products", read_online_products),
    "cub": KnownLayout("CUB-200-2011", read_cub, neighbours=(NAMES_OF_ATTRIBUTES,)),
    "cars": KnownLayout("Stanford Cars", read_cars),
    "synthetic-cars": KnownLayout("Synthetic Cars", read_synthetic_cars),
    "movie-posters": KnownLayout("Movie Posters", read_movie_posters),
    "mit-states": KnownLayout("MIT-States", read_mit_states),
    "cirr": KnownLayout("CIRR", read_cirr_images),
    "fiftyone": KnownLayout("FiftyOne", read_fiftyone),
    "hugging-face": KnownLayout("Hugging Face data set", read_hugging_face, open_hugging_face),
}


def layout_metadata(name: str, source: Source) -> Metadata:
    """Return a layout as the metadata of a catalog; only images that it lists are wanted.

    Raises:
        InputError: as `read_layout`.
    """
    layout = LAYOUTS[name].read(source)
    metadata = Metadata(layout.title, notes=list(layout.problems), names_all=True)
    for image in layout.images.values():
        row = make_row(
            image.path, image.product_id, dict(image.attributes), image.line, layout.title
        )
        if isinstance(row, Row):
            metadata.rows[image.path] = row
        else:
            metadata.problems.append(row)
    return metadata


def read_layout(name: str, folder: str | Path) -> Layout:
    """Return the images of a data set in the folder or zip that its authors publish.

    Args:
        name: one of LAYOUTS.
        folder: where its lists and pictures are.

    Raises:
        KeyError: an unknown name.
        InputError: a list is absent or broken (with file and line), or no listed image is there.
        SourceError: no such folder or zip.
    """
    with LAYOUTS[name].open(Path(folder)) as source:
        return LAYOUTS[name].read(source)
