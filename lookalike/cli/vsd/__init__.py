"""`lookalike vsd`: tasks of the VSD benchmark."""
