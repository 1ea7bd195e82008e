"""A text-image space where there is none: two small heads on locked towers (LiT)."""
