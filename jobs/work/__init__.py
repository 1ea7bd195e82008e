"""What a worker does with a job: running it, its progress and its heartbeat."""
