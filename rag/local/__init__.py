"""Chat models on this machine: their files, fetching them, and the llama.cpp server that runs one."""
