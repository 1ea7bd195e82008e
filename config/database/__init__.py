"""The engine of DATABASES: PostgreSQL as Django has it, which a web process waits for."""
