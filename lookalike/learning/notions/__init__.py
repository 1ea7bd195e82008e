"""What "similar" means, said in words."""
