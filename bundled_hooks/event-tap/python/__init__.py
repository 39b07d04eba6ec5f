"""Parts of the files that `hookscope tap install` writes: `spool`, and one module for each kind of hooks."""
