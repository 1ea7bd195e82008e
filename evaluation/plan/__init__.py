"""What a budget of judging buys: designs of a campaign tried out on a pilot or on assumptions."""
