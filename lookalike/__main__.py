"""`python -m lookalike`."""

from lookalike.cli.main import main

raise SystemExit(main())
