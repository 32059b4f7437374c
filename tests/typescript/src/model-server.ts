// The scripted model on a free port, with a record of the requests that reached it.

import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

const HEAD_END = "\r\n\r\n";
const MESSAGES_PATHS = ["/v1/messages", "/v1/messages?beta=true"];

export type Json = any;

/** One request as the model service received it. */
export class RecordedRequest {
  constructor(
    readonly path: string,
    readonly headers: Record<string, string>,
    readonly body: Json,
  ) {}

  /** Everything that the conversation says, as one text to search in. */
  messagesText(): string {
    return JSON.stringify(this.body.messages ?? []);
  }

  systemText(): string {
    const system = this.body.system ?? "";
    return typeof system === "string" ? system : system.map((block: Json) => block.text).join("\n");
  }

  toolNames(): string[] {
    return (this.body.tools ?? []).map((tool: Json) => tool.name);
  }
}

/** Collects the requests of one connection; bodies come with their length. */
class RequestParser {
  private pending = Buffer.alloc(0);

  constructor(private readonly requests: RecordedRequest[]) {}

  feed(piece: Buffer): void {
    this.pending = Buffer.concat([this.pending, piece]);
    while (this.take()) {}
  }

  private take(): boolean {
    const end = this.pending.indexOf(HEAD_END);
    if (end < 0) return false;
    const [first = "", ...lines] = this.pending.subarray(0, end).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(lines.map(splitHeader));
    const start = end + HEAD_END.length;
    const stop = start + Number(headers["content-length"] ?? 0);
    if (this.pending.length < stop) return false;
    const body = this.pending.subarray(start, stop).toString("utf8");
    this.pending = this.pending.subarray(stop);
    this.requests.push(new RecordedRequest(first.split(" ")[1] ?? "", headers, body ? JSON.parse(body) : {}));
    return true;
  }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** `windlass scripted` with one script, and a relay in front of it that keeps what clients sent. */
export class ModelServer {
  private readonly recorded: RecordedRequest[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly process: ChildProcess,
    private readonly relay: Server,
  ) {}

  static async start(script: string, folder: string): Promise<ModelServer> {
    const path = join(folder, "model.script");
    writeFileSync(path, script);
    const args = ["scripted", "--script", path, "--port", "0"];
    const child = spawn(process.env["WINDLASS"]!, args, { stdio: ["ignore", "pipe", "ignore"] });
    const upstream = await readPort(child);
    const relay = createServer();
    const server = new ModelServer(child, relay);
    relay.on("connection", (client) => server.copy(client, connect(upstream, "127.0.0.1")));
    await new Promise<void>((listening) => relay.listen(0, "127.0.0.1", listening));
    return server;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.relay.address() as AddressInfo).port}`;
  }

  /** The Messages requests so far; token counts and model lists are left out. */
  get requests(): RecordedRequest[] {
    return this.recorded.filter((request) => MESSAGES_PATHS.includes(request.path));
  }

  stop(): void {
    this.process.kill("SIGKILL");
    this.relay.close();
    for (const socket of this.sockets) socket.destroy();
  }

  /** Copies both ways. A side that ends ends the other, so that a cut stays a cut. */
  private copy(client: Socket, upstream: Socket): void {
    const parser = new RequestParser(this.recorded);
    client.on("data", (piece) => parser.feed(piece as Buffer));
    for (const [source, target] of [[client, upstream], [upstream, client]] as const) {
      this.sockets.add(source);
      source.pipe(target);
      source.on("error", () => target.destroy());
      source.on("close", () => target.destroy());
    }
  }
}

async function readPort(child: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const port = /^listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line)?.[1];
    if (port) return Number(port);
    throw new Error(`the scripted server said: ${line}`);
  }
  throw new Error("the scripted server ended");
}
