// Server-sent events over `fetch`, which can send the token in a header; `EventSource` cannot.
import { readProblem, requestHeaders, Problem } from "./client";

export interface StreamEvent {
  readonly id: string | null;
  readonly type: string;
  readonly data: string;
}

export interface StreamHandlers {
  readonly onEvent: (event: StreamEvent) => void;
  readonly onOpen?: () => void;
  /** The connection was lost; it is opened again after `retryMs`. */
  readonly onLost?: (problem: Problem, retryMs: number) => void;
  /** The server closed the stream on purpose, or refuses it for good. */
  readonly onEnd?: (problem: Problem | null) => void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Reads blocks of `field: value` lines that end with an empty line. */
export class EventParser {
  private buffer = "";
  private id: string | null = null;

  push(text: string, deliver: (event: StreamEvent) => void): void {
    this.buffer += text;
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this.buffer);
      if (!end) return;
      const block = this.buffer.slice(0, end.index);
      this.buffer = this.buffer.slice(end.index + end[0].length);
      this.read(block, deliver);
    }
  }

  private read(block: string, deliver: (event: StreamEvent) => void): void {
    let type = "message";
    const data: string[] = [];
    for (const line of block.split(/\r?\n/)) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const value = line.slice(colon + 1).replace(/^ /, "");
      const field = line.slice(0, colon);
      if (field === "data") data.push(value);
      else if (field === "event") type = value;
      else if (field === "id") this.id = value;
    }
    if (data.length > 0) deliver({ id: this.id, type, data: data.join("\n") });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/** Follows a stream until the returned function is called. A lost connection continues after the
 * last event that was read. */
export function followStream(path: string, handlers: StreamHandlers): () => void {
  const stop = new AbortController();
  void run(path, handlers, stop.signal);
  return () => stop.abort();
}

async function run(path: string, handlers: StreamHandlers, stop: AbortSignal): Promise<void> {
  let lastId: string | null = null;
  let failures = 0;
  while (!stop.aborted) {
    try {
      const headers = { ...requestHeaders(), ...(lastId === null ? {} : { "last-event-id": lastId }) };
      const response = await fetch(path, { headers, signal: stop, cache: "no-store", credentials: "omit" });
      if (response.status === 204) return handlers.onEnd?.(null);
      if (!response.ok || !response.body) throw await readProblem(response);
      handlers.onOpen?.();
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        failures = 0;
        parser.push(value, (event) => { lastId = event.id ?? lastId; handlers.onEvent(event); });
      }
      throw new Problem(0, "stream_closed", "Stream closed", "the server closed the stream");
    } catch (error) {
      if (stop.aborted) return;
      const problem = error instanceof Problem ? error : new Problem(0, "unreachable", "Server unreachable", "the server cannot be reached");
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return handlers.onEnd?.(problem);
      const wait = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      failures += 1;
      handlers.onLost?.(problem, wait);
      await pause(wait, stop);
    }
  }
}
