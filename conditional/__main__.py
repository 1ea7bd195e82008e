"""`python -m conditional`."""

from conditional.cli import main

raise SystemExit(main())
