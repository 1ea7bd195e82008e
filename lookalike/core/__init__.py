"""What every part of the library stands on: arrays, threads, files, errors."""
