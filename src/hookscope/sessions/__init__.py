"""Eve sessions, simulated: agents, scripted models, tools and hooks. Never runs code that is not trusted."""
