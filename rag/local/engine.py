"""The process that runs llama.cpp: one model behind an OpenAI-compatible server on loopback, until its parent is gone.

Run as a script by `rag.local.server`, with the wishes as one line of JSON on standard input. It answers with one line
on standard output, {"url"} or {"error"}, and ends when standard input does. A process of its own, as what llama.cpp
writes and how it crashes then stay out of citewise's.
"""

import json
import os
import sys
from typing import Any

PROMPT_CACHE_MIB = 256
"""Memory for the prompts of earlier conversations; llama.cpp's own default is 8 GiB."""
ERRORS_ONLY = 1
DRY_MULTIPLIER, DRY_ALLOWED_TOKENS, DRY_WINDOW = 0.8, 12, 256
"""At temperature 0 small models fall into saying one sentence for ever. The DRY sampler makes it dear to go on with a
repetition of 12 tokens, looking 256 back; a penalty on single words made names and numbers of the sources wrong."""


def main() -> None:
    """Serves until standard input ends."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # whatever else writes to standard output is log
        told, server = _serve(json.loads(sys.stdin.readline()))
        print(json.dumps(told), file=answers, flush=True)
        if server is not None:
            sys.stdin.read()
    os._exit(0)  # without waiting for an answer that nobody will read


def _serve(wishes: dict[str, Any]) -> tuple[dict[str, str], object]:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = wishes["file"]
    params.model_alias = [wishes["name"]]
    params.n_ctx = wishes["context_tokens"]
    params.n_parallel = 1
    params.cpuparams.n_threads = wishes["threads"]
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wishes["key"]]  # other programs and web pages reach loopback too
    params.ui = params.endpoint_slots = params.endpoint_props = False
    params.verbosity = ERRORS_ONLY
    params.sampling.dry_multiplier, params.sampling.dry_allowed_length = DRY_MULTIPLIER, DRY_ALLOWED_TOKENS
    params.sampling.dry_penalty_last_n = DRY_WINDOW
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        return {"error": str(error)}, None
    return {"url": server.listening_address}, server


if __name__ == "__main__":
    main()
