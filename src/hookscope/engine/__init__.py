"""From files to runs: discover hooks, check their gates, plan, load, fire. Names no host, writes no file."""
