"""How a whole site runs: its processes, devices, claims on a data folder."""
