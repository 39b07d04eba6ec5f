"""The same folders under several dialects, side by side. Pure but for the headers it reads; runs nothing."""
