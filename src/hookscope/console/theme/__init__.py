"""Colors, glyphs and safe text. Nothing here knows a hook, a pane or the workbench."""
