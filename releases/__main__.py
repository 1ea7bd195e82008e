"""`python -m releases`."""

from lookalike.cli.release import main

raise SystemExit(main())
