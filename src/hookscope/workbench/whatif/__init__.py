"""What if: another platform, environment or home than this machine's. Reads only; writes nothing."""
