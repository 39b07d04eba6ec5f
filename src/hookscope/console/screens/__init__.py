"""The main screen, and the screens that fill the terminal: debugger and packs.

A screen hands work to controllers.
"""
