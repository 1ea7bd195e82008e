"""How many positives a catalogue holds, from labels drawn at random."""
