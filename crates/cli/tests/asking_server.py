"""An MCP server with one tool that asks the user before it acts, as a program or over HTTP."""
import json, os, queue, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
FORMS = {
    "size": {"type": "object", "required": ["size"], "properties": {
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "integer", "minimum": 1, "default": 2}}},
    "defaults": {"type": "object", "required": ["n"], "properties": {
        "n": {"type": "integer", "default": 7}}},
}
asks = os.environ.get("ASKS", "size").split(",")
answers = {}
def note(name, what):
    with open(name, "a") as file: file.write(json.dumps(what) + "\n")
def question(number, kind):
    if kind == "page":
        params = {"mode": "url", "message": "Pay first", "url": "https://pay.example.com/1", "elicitationId": "e"}
    elif kind == "bad": params = {"message": "no form"}
    else: params = {"message": "Which " + kind + "?", "requestedSchema": FORMS[kind]}
    return {"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params}
def handle(message, send):
    method, id = message.get("method"), message.get("id")
    if method is None: return answers[message["id"]].put(message)
    if id is None: return note("notices", message)
    def reply(result): send({"jsonrpc": "2.0", "id": id, "result": result})
    if method == "initialize":
        note("hellos", message["params"]["capabilities"])
        reply({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "d", "version": "1"}})
    elif method == "tools/list":
        reply({"tools": [{"name": "order", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        note("calls", message["params"])
        if asks == ["pages"] and not os.path.exists("opened"):
            open("opened", "w").close()
            page = {"mode": "url", "message": "Log in", "url": "https://pay.example.com/2", "elicitationId": "e"}
            return send({"jsonrpc": "2.0", "id": id, "error": {"code": -32042, "message": "page", "data": {"elicitations": [page]}}})
        said = []
        for kind in asks if asks != ["pages"] else []:
            # Not shared: the client of an earlier call may be gone.
            number = "q%d" % len(answers)
            answers[number] = queue.Queue()
            send(question(number, kind))
            said.append(answers[number].get().get("result", "refused"))
        note("ordered", said)
        reply({"content": [{"type": "text", "text": json.dumps(said)}]})
    else: send({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})
class Web(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self): self.send_error(405)
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if message.get("id") is None or "method" not in message:
            handle(message, None)
            self.send_response(202); self.send_header("Content-Length", "0"); return self.end_headers()
        self.send_response(200); self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close"); self.end_headers(); self.close_connection = True
        def send(out): self.wfile.write(("data: %s\n\n" % json.dumps(out)).encode()); self.wfile.flush()
        handle(message, send)
if len(sys.argv) > 1:
    web = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    with open("port.new", "w") as file: file.write(str(web.server_port))
    os.rename("port.new", "port")
    web.serve_forever()
lock = threading.Lock()
def write(out):
    with lock: print(json.dumps(out), flush=True)
for line in sys.stdin:
    threading.Thread(target=handle, args=(json.loads(line), write), daemon=True).start()
