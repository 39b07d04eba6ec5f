"""Dialogs over the panes. A dialog returns an answer; it writes nothing itself."""

from __future__ import annotations
