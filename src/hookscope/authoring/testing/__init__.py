"""From an event to a test: saved events, expectations, replay and sequences."""
