"""What a pooled label set hides: who profits from the pool, by how much, and what it missed."""
