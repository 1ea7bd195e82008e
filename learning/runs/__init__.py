"""Training runs: text spaces, embeddings and conditions, from the form to the model of pools."""
