"""What a judge's answer is, and what it does: from the posted batch to the reply."""
