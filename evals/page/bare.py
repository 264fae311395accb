"""The page that ours is compared with, Gradio's chat as it comes: `python -m evals.page.bare --port PORT`."""

import os
import sys


def main(port: int) -> None:
    """Serves until the process ends."""
    os.environ.update(GRADIO_ANALYTICS_ENABLED="False", NO_PROXY="127.0.0.1,localhost")
    import gradio as gr

    gr.ChatInterface(lambda message, history: message).launch(server_name="127.0.0.1", server_port=port, quiet=True)


if __name__ == "__main__":
    main(int(sys.argv[sys.argv.index("--port") + 1]))
