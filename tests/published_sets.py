"""Small data sets in the folders and lists in which their authors publish the large ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.io import savemat

from tests.pictures import jpeg, png, write_folder

Files = dict[str, bytes]


def counted(header: str, rows: list[str]) -> bytes:
    """A list of DeepFashion: how many rows, what the columns are, the rows."""
    return "\n".join([str(len(rows)), header, *rows, ""]).encode()


def lines(*rows: str) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def in_shop() -> Files:
    images = {
        "img/WOMEN/Dresses/id_00000002/02_1_front.jpg": ("id_00000002", "train"),
        "img/WOMEN/Dresses/id_00000002/02_2_side.jpg": ("id_00000002", "train"),
        "img/MEN/Denim/id_00000080/01_1_front.jpg": ("id_00000080", "query"),
        "img/MEN/Denim/id_00000080/01_7_additional.jpg": ("id_00000080", "gallery"),
    }
    partition = [f"{path:<60} {item}   {split}" for path, (item, split) in images.items()]
    boxes = [f"{path} 3 1 10 20 110 220" for path in images]
    return {
        "Eval/list_eval_partition.txt": counted("image_name item_id evaluation_status", partition),
        "Anno/list_bbox_inshop.txt": counted(
            "image_name clothes_type pose_type x_1 y_1 x_2 y_2", boxes
        ),
        **{f"Img/{path}": jpeg(seed) for seed, path in enumerate(images)},
    }


def consumer_to_shop() -> Files:
    first, second = "img/CLOTHING/Blouse/id_00000009", "img/DRESSES/Lace/id_00000010"
    pairs = [
        f"{first}/comsumer_01.jpg {first}/shop_01.jpg id_00000009 train",
        f"{first}/comsumer_02.jpg {first}/shop_01.jpg id_00000009 train",
        f"{second}/comsumer_01.jpg {second}/shop_01.jpg id_00000010 test",
    ]
    paths = [f"{first}/{name}.jpg" for name in ("comsumer_01", "comsumer_02", "shop_01")]
    paths += [f"{second}/{name}.jpg" for name in ("comsumer_01", "shop_01", "shop_02")]
    boxes = [f"{path} 1 {1 if 'shop_' in path else 2} 1 2 31 42" for path in paths]
    header = "image_pair_name_1 image_pair_name_2 item_id evaluation_status"
    return {
        "Eval/list_eval_partition.txt": counted(header, pairs),
        "Anno/list_bbox_consumer2shop.txt": counted(
            "image_name clothes_type source_type x_1 y_1 x_2 y_2", boxes
        ),
        **{path: jpeg(10 + seed) for seed, path in enumerate(paths)},
    }


def deepfashion_attributes() -> Files:
    paths = [f"img/Sheer_Blouse/img_0000000{n}.jpg" for n in range(3)]
    marks = [f"{paths[0]}  1 -1 1", f"{paths[1]} -1 1 -1", f"{paths[2]} -1 -1 0"]
    return {
        "Anno/list_category_cloth.txt": counted("category_name category_type", ["Blouse 1",
                                                                                "Jeans  2"]),
        "Anno/list_category_img.txt": counted("image_name category_label",
                                              [f"{paths[0]} 1", f"{paths[1]} 2", f"{paths[2]} 1"]),
        "Anno/list_attr_cloth.txt": counted("attribute_name attribute_type",
                                            ["a-line    3", "abstract floral   1", "striped 1"]),
        "Anno/list_attr_img.txt": counted("image_name attribute_labels", marks),
        "Anno/list_bbox.txt": counted("image_name x_1 y_1 x_2 y_2", [f"{paths[0]} 0 5 20 25"]),
        "Eval/list_eval_partition.txt": counted("image_name evaluation_status",
                                                [f"{paths[0]} train", f"{paths[1]} val",
                                                 f"{paths[2]} test"]),
        **{path: jpeg(20 + seed) for seed, path in enumerate(paths)},
    }  # fmt: skip


def deepfashion_fine() -> Files:
    paths = [f"img/Sheer_Blouse/img_{n}.jpg" for n in range(3)]
    names = ["floral               1", "striped 1", "long_sleeve 2", "denim 5", "tight 6"]
    return {
        "Anno_fine/list_category_cloth.txt": counted("category_name category_type", ["Blouse 1",
                                                                                     "Jeans  2"]),
        "Anno_fine/list_attr_cloth.txt": counted("attribute_name attribute_type", names),
        "Anno_fine/test.txt": lines(*paths),
        "Anno_fine/test_cate.txt": lines("1", "2", "1"),
        "Anno_fine/test_attr.txt": lines("1 1 0 1 0", "0 0 0 0 1", "0 1 1 0 0"),
        **{path: jpeg(24 + seed) for seed, path in enumerate(paths)},
    }  # fmt: skip


def online_products() -> Files:
    header = "image_id class_id super_class_id path"
    paths = ["bicycle_final/111_0.JPG", "bicycle_final/111_1.JPG", "sofa_final/222_0.JPG"]
    return {
        "Ebay_train.txt": lines(header, f"1 1 1 {paths[0]}", f"2 1 1 {paths[1]}"),
        "Ebay_test.txt": lines(header, f"59552 11319 9 {paths[2]}"),
        "Ebay_info.txt": lines("image_id class_id path"),
        **{path: jpeg(30 + seed) for seed, path in enumerate(paths)},
    }


def cub() -> Files:
    kinds = {"1": "001.Black_footed_Albatross", "150": "150.Sage_Thrasher"}
    images = {"1": f"{kinds['1']}/a_0001.jpg", "2": f"{kinds['1']}/a_0002.jpg",
              "3": f"{kinds['150']}/b_0003.jpg"}  # fmt: skip
    seen = ["1 2 1 4 12.3", "1 10 1 3 2.5", "1 11 1 3 2.5 0", "2 2 0 1 0.8", "3 2 1 4 1"]
    return {
        "attributes.txt": lines("2 has_bill_shape::dagger", "10 has_wing_color::blue",
                                "11 has_wing_color::grey"),
        "CUB_200_2011/images.txt": lines(*(f"{n} {path}" for n, path in images.items())),
        "CUB_200_2011/classes.txt": lines(*(f"{n} {kind}" for n, kind in kinds.items())),
        "CUB_200_2011/image_class_labels.txt": lines("1 1", "2 1", "3 150"),
        "CUB_200_2011/train_test_split.txt": lines("1 0", "2 1", "3 1"),
        "CUB_200_2011/bounding_boxes.txt": lines("1 60.0 27.0 325.0 304.0"),
        "CUB_200_2011/attributes/image_attribute_labels.txt": lines(*seen),
        **{f"CUB_200_2011/images/{path}": jpeg(40 + int(n)) for n, path in images.items()},
    }  # fmt: skip


def cars(folder: Path) -> Files:
    kind = [("relative_im_path", object), *((f"bbox_{at}", object) for at in ("x1", "y1", "x2",
            "y2")), ("class", object), ("test", object)]  # fmt: skip
    rows = [("car_ims/000001.jpg", 3, 4, 33, 24, 1, 0), ("car_ims/000002.jpg", 1, 2, 9, 9, 2, 1)]
    annotations = np.array([tuple(row) for row in rows], dtype=kind)
    names = np.array(["AM General Hummer SUV 2000", "Acura RL Sedan 2012"], object)
    folder.mkdir(parents=True, exist_ok=True)
    savemat(folder / "x.mat", {"annotations": annotations, "class_names": names},
            do_compression=True)  # fmt: skip
    content = (folder / "x.mat").read_bytes()
    (folder / "x.mat").unlink()
    return {
        "cars_annos.mat": content,
        **{str(row[0]): jpeg(50 + seed) for seed, row in enumerate(rows)},
    }


def synthetic_cars() -> Files:
    header = "frame,model,color_hue,color_sat,color_val,bg_color_hue,bg_color_sat,bg_color_val"
    rows = ["2,Van,0.5,2,2,0.5,0,0", "1,Coupe,0.0,0,2,0.5,2,2"]
    return {"cars.csv": lines(header, *rows),
            **{f"cars/{n}.png": png(55 + n) for n in (1, 2)}}  # fmt: skip


def movie_posters() -> Files:
    movies = [
        {"imdbID": "tt0080684", "Genre": "Action, Adventure", "Country": "USA"},
        {"imdbID": "tt0080684", "Genre": "Drama", "Country": "UK"},
        {"imdbID": "tt0081505", "Genre": "Horror", "Country": "UK, USA"},
        {"imdbID": "tt0000001", "Genre": "N/A", "Country": "India"},
    ]
    return {
        "all.json": json.dumps(movies).encode(),
        "Movie_Poster_Dataset/1980/tt0081505.jpg": jpeg(58),
        "Movie_Poster_Dataset/1980/tt0080684.jpg": jpeg(59),
    }


def mit_states() -> Files:
    return {
        "release_dataset/images/ancient building/a.jpg": jpeg(60),
        "release_dataset/images/adj building/b.jpg": jpeg(61),
        "release_dataset/images/wrinkled shirt/c.jpg": jpeg(62),
        "release_dataset/adj_ants.csv": b"ancient,new\n",
    }


def cirr() -> Files:
    train = {f"train-10108-0-img{n}": f"./train/34/train-10108-0-img{n}.png" for n in range(2)}
    val = {"dev-1-0-img0": "./dev/dev-1-0-img0.png"}
    images = [path[2:] for path in (*train.values(), *val.values())]
    return {
        "cirr/image_splits/split.rc2.train.json": json.dumps(train).encode(),
        "cirr/image_splits/split.rc2.val.json": json.dumps(val).encode(),
        "cirr/captions/cap.rc2.train.json": b"[]",
        **{f"img_raw/{path}": png(70 + seed) for seed, path in enumerate(images)},
    }


def fiftyone() -> Files:
    label = {"_cls": "Classification", "label": "dress", "confidence": 0.9}
    samples = [
        {"_id": {"$oid": "6"}, "filepath": "data/a.jpg", "tags": ["validation", "odd"], "_rand": 1,
         "product_id": "P1", "price": 12.5, "ground_truth": label, "metadata": {"width": 4},
         "boxes": {"_cls": "Detections", "detections": []}},
        {"filepath": "data/b.jpg", "tags": ["train"], "product_id": "P2", "ground_truth": None},
    ]  # fmt: skip
    return {
        "metadata.json": b"{}",
        "samples.json": json.dumps({"samples": samples}).encode(),
        "data/a.jpg": jpeg(80),
        "data/b.jpg": jpeg(81),
    }


def write_published_set(name: str, folder: Path) -> Path:
    """Write the small data set of a layout and return its folder."""
    files = {
        "in-shop": in_shop,
        "consumer-to-shop": consumer_to_shop,
        "deepfashion-attributes": deepfashion_attributes,
        "deepfashion-fine": deepfashion_fine,
        "synthetic-cars": synthetic_cars,
        "movie-posters": movie_posters,
        "sop": online_products,
        "cub": cub,
        "cars": lambda: cars(folder),
        "mit-states": mit_states,
        "cirr": cirr,
        "fiftyone": fiftyone,
    }[name]()
    return write_folder(folder, files)
