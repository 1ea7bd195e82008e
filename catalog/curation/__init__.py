"""What an admin decides about duplicates: an image left out of pools, two products that are one."""
