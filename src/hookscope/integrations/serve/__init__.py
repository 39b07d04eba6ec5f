"""The console in a browser: a page with a terminal, and a console process for each page."""
