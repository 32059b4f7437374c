"""Sends generated requests to the API server and compares its answers with the OpenAPI document.

    fuzz.py WINDLASS

No answer may be an error of the server, or anything else than the document says. The server has a
store with one conversation, so that some of the ids exist; nothing drives runs while requests are
sent, and nothing but loopback is reached.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

SECONDS = 40
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
# A stream of all runs has no end; the others end, or refuse ids that do not exist.
EXCLUDED = ["/v1/events/stream", "/v1/conversations/{conversation_id}/stream"]


def main() -> int:
    windlass = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "a.script").write_text('when any\n  say "done"\n')
        environment = {**os.environ, "WINDLASS_HOME": folder, "HOME": folder}
        arguments = ["serve", "--listen", "127.0.0.1:0", "--script", "a.script", "--store", "w.db"]
        server = subprocess.Popen(
            [windlass, *arguments, "--requests-per-second", "100000"],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        try:
            url = server.stdout.readline().strip()
            token = (home / "server-token").read_text().strip()
            start_conversation(url, token)
            return run_schemathesis(url, token, folder)
        finally:
            server.terminate()
            server.wait(timeout=30)


def start_conversation(url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = json.dumps({"prompt": "hello", "tags": ["fuzz"]}).encode()
    request = urllib.request.Request(f"{url}/v1/conversations", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        assert response.status == 202, response.status


def run_schemathesis(url: str, token: str, folder: str) -> int:
    excluded = [word for path in EXCLUDED for word in ("--exclude-path", path)]
    command = [
        str(pathlib.Path(sys.executable).with_name("st")), "run", f"{url}/openapi.json",
        "--url", url, "--header", f"Authorization: Bearer {token}", "--checks", ",".join(CHECKS),
        "--max-time", str(SECONDS), "--max-examples", "40", "--request-timeout", "20",
        "--seed", "1", "--no-shrink", "--suppress-health-check", "all", "--warnings", "off",
        "--phases", "examples,coverage,fuzzing", "--continue-on-failure", *excluded,
    ]
    return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
