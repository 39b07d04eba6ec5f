"""Users of Hookscope: editors (dap), browsers (serve), pytest. No module imports them at its top level."""
