"""What a shell completes: which words are meant, what there is of them, and the script that asks."""
