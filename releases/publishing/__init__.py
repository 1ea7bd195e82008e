"""Give frozen releases to repositories: Zenodo, the Hugging Face Hub."""
