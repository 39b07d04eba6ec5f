"""The commands of `hookscope tap`: a module each, imported when it is called."""
