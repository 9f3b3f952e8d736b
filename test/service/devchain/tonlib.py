"""Speaks for a test with the official C++ tonlib: one JSON request a line in, one JSON answer a line out, in order."""

import ctypes
import json
import sys
import time

from pytonlib.tonlibjson import get_tonlib_path

ANSWER_SECONDS_MAX = 60.0

library = ctypes.CDLL(get_tonlib_path())
library.tonlib_client_json_create.restype = ctypes.c_void_p
library.tonlib_client_json_send.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.tonlib_client_json_receive.restype = ctypes.c_char_p
library.tonlib_client_json_receive.argtypes = [ctypes.c_void_p, ctypes.c_double]
library.tonlib_client_set_verbosity_level.argtypes = [ctypes.c_int]
library.tonlib_client_set_verbosity_level(0)
client = library.tonlib_client_json_create()

for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    request["@extra"] = str(number)
    library.tonlib_client_json_send(client, json.dumps(request).encode())
    deadline = time.monotonic() + ANSWER_SECONDS_MAX
    answer = {"@type": "error", "code": 0, "message": "tonlib does not answer"}
    while time.monotonic() < deadline:
        received = library.tonlib_client_json_receive(client, 1.0)
        if received is None:
            continue
        candidate = json.loads(received)
        # Updates (the state of the synchronization) come in between without an @extra.
        if candidate.get("@extra") == str(number):
            answer = candidate
            break
    print(json.dumps(answer), flush=True)
