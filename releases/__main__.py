"""`python -m releases`."""

from releases.cli import main

raise SystemExit(main())
