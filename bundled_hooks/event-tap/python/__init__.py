"""What `hookscope tap install` puts together: `spool`, and one of the forms that hear a kind of hooks."""
