"""Simulated Eve sessions: agents, scripted models, tools and hooks. Runs trusted code only."""
