"""citewise without its page and its evals. Importing it tells ONNX Runtime, which reads this later, to call nobody."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
