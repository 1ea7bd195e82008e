"""Pictures are accepted only when they can be shown and compared faithfully."""

from __future__ import annotations

import io
import random
import threading
from pathlib import Path

import imagehash
import numpy as np
import pytest
from PIL import Image, ImageCms

from lookalike.images.decode import (
    MAX_BYTES,
    PictureError,
    picture_format,
    read_picture,
    read_rgb,
)
from tests.pictures import BAD_PICTURES, encoded, heic, jpeg, picture, png


@pytest.mark.parametrize("case", BAD_PICTURES)
def test_a_bad_picture_is_refused_with_its_reason(case: str):
    name, content, words = BAD_PICTURES[case]
    with pytest.raises(PictureError) as caught:
        read_picture(content, name)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")  # a whole sentence
    assert "<" not in str(caught.value)  # no addresses of objects in memory


def test_a_file_over_the_byte_limit_is_refused_unread():
    with pytest.raises(PictureError, match="Save it smaller"):
        picture_format(b"\xff\xd8\xff" + bytes(MAX_BYTES), "a.jpg")


@pytest.mark.parametrize(
    ("name", "image_format"),
    [("a.jpg", "JPEG"), ("A.JPEG", "JPEG"), ("dir/b.png", "PNG"), ("ü b.webp", "WEBP")],
)
def test_facts_and_previews_of_a_good_picture(name: str, image_format: str):
    found = read_picture(encoded(picture(3, (1500, 700)), image_format), name)
    assert (found.image_format, found.width, found.height) == (image_format, 1500, 700)
    for data, size in ((found.thumb, (256, 120)), (found.view, (1024, 478))):
        preview = Image.open(io.BytesIO(data))
        assert (preview.format, preview.size, preview.mode) == ("WEBP", size, "RGB")


def test_a_small_picture_is_not_blown_up():
    found = read_picture(png(size=(20, 10)), "a.png")
    assert Image.open(io.BytesIO(found.view)).size == (20, 10)
    assert Image.open(io.BytesIO(found.thumb)).size == (20, 10)


@pytest.mark.parametrize("size", [(1, 1), (1, 3000), (3000, 1)])
def test_odd_shapes_have_previews(size: tuple[int, int]):
    found = read_picture(png(size=size), "a.png")
    assert (found.width, found.height) == size
    assert min(Image.open(io.BytesIO(found.thumb)).size) == 1


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_turns_size_previews_hash_and_pixels(orientation: int):
    upright = picture(5, (64, 48))
    undo = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    stored = upright.transpose(undo) if undo is not None else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010E] = "a secret place"
    content = encoded(stored, "PNG", exif=exif)
    found = read_picture(content, "a.png")
    assert (found.width, found.height) == (64, 48)
    assert found.perceptual_hash == str(imagehash.phash(upright))
    np.testing.assert_array_equal(np.asarray(read_rgb(content)), np.asarray(upright))
    for data in (found.thumb, found.view):
        assert b"secret" not in data
        assert not Image.open(io.BytesIO(data)).getexif()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "RGB"])
def test_every_8_bit_mode_goes_in(mode: str):
    image = picture(1, mode="RGB").convert(mode)
    assert read_rgb(encoded(image, "PNG")).mode == "RGB"
    assert read_picture(encoded(image, "PNG"), "a.png").width == 40


def test_transparent_parts_lie_on_white_paper():
    image = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    image.putpixel((0, 0), (0, 0, 255, 255))
    pixels = np.asarray(read_rgb(encoded(image, "PNG")))
    assert pixels[0, 0].tolist() == [0, 0, 255]
    assert (pixels[1:] == 255).all()
    palette = Image.new("P", (4, 4), 0)
    palette.putpalette([255, 0, 0, 0, 255, 0])
    content = encoded(palette, "PNG", transparency=0)
    assert (np.asarray(read_rgb(content)) == 255).all()


def test_previews_are_in_srgb_whatever_profile_the_picture_has():
    red = Image.new("RGB", (64, 64), (200, 30, 30))
    standard = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    # a profile whose numbers for red mean blue light, under another name
    exchanged = standard.replace(b"rXYZ", b"....").replace(b"bXYZ", b"rXYZ")
    exchanged = exchanged.replace(b"....", b"bXYZ")
    exchanged = exchanged.replace("sRGB".encode("utf-16-be"), "Blue".encode("utf-16-be"))

    def middle(**options: object) -> list[int]:
        view = read_picture(encoded(red, "PNG", **options), "a.png").view
        return [int(channel) for channel in np.asarray(Image.open(io.BytesIO(view)))[32, 32]]

    plain = middle()
    assert plain[0] > 190
    assert plain[2] < 40
    assert middle(icc_profile=standard) == plain
    assert middle(icc_profile=b"rubbish") == plain
    turned = middle(icc_profile=exchanged)
    assert turned[2] > 190
    assert turned[0] < 40


def test_a_phone_photo_with_an_attached_preview_is_a_jpeg():
    frames = [picture(1, (64, 64)), picture(2, (16, 16))]
    content = encoded(frames[0], "MPO", save_all=True, append_images=frames[1:])
    assert read_picture(content, "a.jpg").width == 64


def test_read_rgb_refuses_what_is_no_picture():
    with pytest.raises(PictureError, match="no picture at all"):
        read_rgb(b"a text")


@pytest.mark.parametrize(
    "image_format", ["JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "AVIF", "HEIF"]
)
def test_damage_anywhere_is_either_harmless_or_a_picture_error(image_format: str):
    rng = random.Random(0)
    image = picture(2, (60, 60))
    good = heic(image) if image_format == "HEIF" else encoded(image, image_format)
    n_refused = 0
    for _ in range(300):
        content = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        if rng.random() < 0.2:
            content = content[: rng.randrange(len(content))]
        try:
            read_picture(bytes(content), "a." + image_format.lower())
        except PictureError:
            n_refused += 1
    assert n_refused > (20 if image_format in {"BMP", "TIFF"} else 50)  # their pixels have no sums


def test_threads_read_the_same_as_one_after_the_other():
    contents = [jpeg(seed, (200, 150)) for seed in range(12)]
    expected = [read_picture(content, "a.jpg") for content in contents]
    found: dict[int, object] = {}
    threads = [
        threading.Thread(
            target=lambda i=i: found.__setitem__(i, read_picture(contents[i], "a.jpg"))
        )
        for i in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(12)] == expected


def test_the_same_picture_in_another_format_and_size_has_nearly_the_same_hash():
    small = read_picture(encoded(picture(9, (300, 200)), "PNG"), "a.png")
    large = read_picture(encoded(picture(9, (900, 600)), "JPEG", quality=80), "a.jpg")
    other = read_picture(encoded(picture(10, (300, 200)), "PNG"), "a.png")
    difference = int(small.perceptual_hash, 16) ^ int(large.perceptual_hash, 16)
    assert difference.bit_count() <= 4
    assert (int(small.perceptual_hash, 16) ^ int(other.perceptual_hash, 16)).bit_count() > 10


@pytest.mark.parametrize("folder", ["luma_fashion", "clothing_cc0_mini"])
def test_all_real_photos_are_accepted(shared_data: Path, folder: str):
    files = sorted((shared_data / folder / "images256").iterdir())
    assert len(files) == {"luma_fashion": 725, "clothing_cc0_mini": 332}[folder]
    for file in files[::7]:
        assert read_picture(file.read_bytes(), file.name).image_format == "JPEG"
