"""Files of conditional similarity: GeneCIS, CIRR, VAW, COCO panoptic, triplets, matrices."""
