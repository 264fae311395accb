"""The chat page. Importing it tells Gradio, which reads this from the environment, to call nobody and to count nothing:
after every question it would make a table of the last calls, which nobody reads."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
