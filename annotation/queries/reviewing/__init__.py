"""What those who answer for quality look at: answers, disagreements, signs of careless work."""
