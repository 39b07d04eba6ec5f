"""One command or one family of commands a file: the options, and the Answer that the command returns.

Commands that run until Ctrl-C print their lines themselves. Longer texts are made in `cli.render`."""
