"""The console in a browser: a page with a terminal, and for each page a console in a process of its own.

Whoever reaches the page can run code as its user, so nobody gets it without the token, from this machine
neither: other people use it too, and other pages share the browser.

    door.py       pure: who may come in; the token, the names, the page that asks
    house.py      the routes behind the door, and the headers of every answer
    session.py    one console process for one page, and its end
    serving.py    listening, telling the address, ending
    page/         the page itself: nothing of it comes from another machine

The terminal in the page and the wire between it and the console are those of textual-serve.
"""
