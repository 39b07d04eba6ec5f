"""Colors, glyphs and safe text. Nothing here depends on panes or the workbench."""
