"""The main screen, and the debugger and packs screens. Screens hand work to controllers."""
