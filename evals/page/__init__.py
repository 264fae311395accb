"""The page in a browser: how soon it can be used, how heavy it is, how soon it cites, and many readers at once."""
