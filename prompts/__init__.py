"""The prompts, as text files: <name>/<version>/{system,user}.md."""
