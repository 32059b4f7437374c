// The one connection over which the server says what happens. Pages load again what an event
// concerns; several events in a row cause one load.
import { effect, signal, useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { followStream } from "../api/event_stream";
import { token } from "./session";

export type Connection = "connecting" | "live" | "lost";

/** How long events are gathered before pages load again. */
const GATHER_MS = 250;

export const connection = signal<Connection>("connecting");

/** Counts what happened on the server; a page that depends on it loads again. */
export const revision = signal(0);

/** Counts like `revision`, at most once in a while: for what is dear to load. */
export const slowRevision = signal(0);
const SLOW_MS = 5_000;
let slowTimer: ReturnType<typeof setTimeout> | null = null;
let slowAt = 0;
effect(() => {
  if (revision.value === 0 || slowTimer !== null) return;
  slowTimer = setTimeout(() => { slowTimer = null; slowAt = Date.now(); slowRevision.value += 1; }, Math.max(0, slowAt + SLOW_MS - Date.now()));
});

/** The time, once a second, for ages and running clocks. */
export const now = signal(Date.now());
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1_000);

let gathering: ReturnType<typeof setTimeout> | null = null;

function noteChange(): void {
  gathering ??= setTimeout(() => { gathering = null; revision.value += 1; }, GATHER_MS);
}

effect(() => {
  if (token.value === null) return;
  connection.value = "connecting";
  return followStream("/v1/events/stream", {
    onOpen: () => { connection.value = "live"; noteChange(); },
    onEvent: noteChange,
    onLost: () => { connection.value = "lost"; },
    onEnd: () => { connection.value = "lost"; },
  });
});

/** Counts what happens in one run while it is active: its page loads again. */
export function useRunRevision(id: string): Signal<number> {
  const count = useSignal(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const note = (): void => { timer ??= setTimeout(() => { timer = null; count.value += 1; }, GATHER_MS); };
    const stop = followStream(`/v1/runs/${encodeURIComponent(id)}/stream`, { onEvent: note });
    return () => { stop(); if (timer !== null) clearTimeout(timer); };
  }, [id]);
  return count;
}
