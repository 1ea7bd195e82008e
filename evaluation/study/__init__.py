"""What votes leave open, machine judges on trial, the next best model: computed when asked for."""
