"""The chat page. Importing it tells Gradio, which reads this from the environment, to call nobody and to count nothing:
it would keep the last 10,000 calls, and after every question make a table of them, which nobody reads."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "1")
