"""What the commands of packs show and ask."""
