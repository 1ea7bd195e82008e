"""The WS-CSL criterion on stored triplets and embedding sets."""
