"""Pages and addresses of judging and of campaigns."""
