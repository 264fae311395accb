"""What a run looks like: tables for the terminal, Markdown, one HTML file, and the plots of it."""
