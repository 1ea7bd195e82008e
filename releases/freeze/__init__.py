"""From the database to a frozen release, in one consistent view of it."""
