"""Parsers: the bytes of files that people write in, plain Python data or one FormatError out.

What always holds:

- A reader takes any bytes. It returns plain data or raises FormatError, and nothing else.
- Each reader has a partner `locate_…(source, path)` that parses again and locates one value. Files
  are read often; positions are needed only for the one value that is shown or changed.
- Offsets count characters of `text_of(source)`: the whole file with its byte order mark and line
  endings.
- Nothing here touches a disk, runs what it reads, or knows a host, its file names or its settings.
"""
