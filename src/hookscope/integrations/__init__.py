"""Programs that use Hookscope from outside: editors (dap), browsers (serve), pytest.

Nothing imports them at module level.
"""
