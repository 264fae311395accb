"""The chat page. Importing it tells Gradio, which reads this when it is imported, to call nobody."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
