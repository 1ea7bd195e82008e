"""Many people invited at once, each line refused or accepted by itself."""
