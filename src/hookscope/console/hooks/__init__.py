"""The hooks mode: the list, why each stands as it does, and what the registry holds."""
