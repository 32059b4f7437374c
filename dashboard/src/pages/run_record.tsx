// The record of a run: its iterations with their checkpoints, its events, and its log entry by entry.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { forkRun, getEntries, getRawResponses, getRunEvents, getTrace } from "../api/calls";
import type { EventRow, IterationRow } from "../api/types";
import { useResource } from "../state/resource";
import { link, route, setQuery } from "../state/router";
import { clock, dateTime, duration, eventField, tokens } from "../view/format";
import { Action, Empty, Fold, Loaded, words } from "../view/parts";
import type { TabProps } from "./run";

export function IterationsTab({ run, explanation, version }: TabProps): JSX.Element {
  const trace = useResource((stop) => getTrace(run.run_id, stop), [run.run_id, version]);
  const chosen = route.value.query.get("iteration");
  const calls = explanation.data.value?.model_calls ?? [];
  const entryOf = (row: IterationRow): number | null => calls.find((call) => call.at_ms >= row.at_ms - 1 && call.at_ms <= row.at_ms)?.entry ?? calls[row.iter - 1]?.entry ?? null;
  const fork = async (entry: number): Promise<void> => {
    const made = await forkRun(run.run_id, null, entry);
    location.hash = link(["chat", made.conversation_id]);
  };
  return (
    <Loaded resource={trace}>{(found) => found.data.length === 0 ? <Empty title="No iteration yet">The first reply of the model makes one.</Empty> : (
      <section class="card">
        <header><h2>Iterations</h2><span class="note">each is a checkpoint: a fork continues from it in a new conversation</span></header>
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Iterations"><table>
          <thead><tr><th class="number">Iteration</th><th>Time</th><th>Reason</th><th>Calls</th><th class="number">Input</th><th class="number">Cached</th><th class="number">Output</th><th>Stop</th><th>Checkpoint</th></tr></thead>
          <tbody>{found.data.map((row) => {
            const entry = entryOf(row);
            return (
              <tr key={row.iter} class={String(row.iter) === chosen ? "chosen" : ""}>
                <td class="number"><a href={link(["runs", run.run_id, "iterations"], { iteration: String(row.iter) })}>{row.iter}</a></td>
                <td title={dateTime(row.at_ms)}>{clock(row.at_ms)}</td>
                <td>{words(row.transition)}</td>
                <td>{row.tool_calls.map((call) => <span class={`badge gap ${call.ok ? "ok" : "bad"}`}>{call.name} {duration(call.ms)}</span>)}</td>
                <td class="number">{tokens(row.input_tokens + row.cache_write + row.cache_read)}</td>
                <td class="number">{tokens(row.cache_read)}</td>
                <td class="number">{tokens(row.output_tokens)}</td>
                <td>{row.stop_reason ? words(row.stop_reason) : "–"}</td>
                <td class="row">{entry === null ? "–" : <><a class="small" href={link(["runs", run.run_id, "entries"], { entry: String(entry) })}>entry {entry}</a><Action label="Fork here" tone="small quiet" done="The conversation was copied up to here" run={() => fork(entry)} /></>}</td>
              </tr>
            );
          })}</tbody>
        </table></div>
      </section>
    )}</Loaded>
  );
}

export function EventsTab({ run, version }: TabProps): JSX.Element {
  const events = useResource((stop) => getRunEvents(run.run_id, stop), [run.run_id, version]);
  return <Loaded resource={events}>{(found) => found.data.length === 0 ? <div class="card"><Empty title="No events yet">They appear here as they happen.</Empty></div> : <EventTable events={found.data} />}</Loaded>;
}

function EventTable({ events }: { events: readonly EventRow[] }): JSX.Element {
  return (
    <section class="card scroll-x" tabIndex={0} aria-label="Events">
      <table>
        <thead><tr><th>Time</th><th>Event</th><th>Details</th></tr></thead>
        <tbody>{events.map((event) => (
          <tr><td title={dateTime(event.at_ms)}>{clock(event.at_ms)}</td><td class="mono">{event.name}</td>
            <td class="wrap small mono">{Object.entries(event.fields).map(([name, value]) => eventField(name, value)).join("  ")}</td></tr>
        ))}</tbody>
      </table>
    </section>
  );
}

const ENTRIES = 25;

interface LogEntry { readonly seq: number; readonly at: number; readonly input: object; readonly records: object[] }

/** The raw log, stepped through forwards and backwards. */
export function EntriesTab({ run, version }: TabProps): JSX.Element {
  const chosen = Math.max(1, Number(route.value.query.get("entry") ?? "1") || 1);
  const from = Math.floor((chosen - 1) / ENTRIES) * ENTRIES + 1;
  const entries = useResource((stop) => getEntries(run.run_id, from - 1, ENTRIES, stop), [run.run_id, from, version]);
  const found = (entries.data.value?.data ?? []) as LogEntry[];
  const last = found.at(-1)?.seq ?? 0;
  const isAtEnd = found.length < ENTRIES && chosen >= last;
  const step = (by: number): void => setQuery({ entry: String(Math.max(1, chosen + by)) });
  // Before the browser paints: a key that is pressed as soon as the entry is there counts.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "ArrowLeft" && chosen > 1) step(-1);
      if (event.key === "ArrowRight" && !isAtEnd) step(1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [chosen, isAtEnd]);
  const shown = found.find((entry) => entry.seq === chosen);
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Step through the log">
        <button type="button" class="button" disabled={chosen <= 1} onClick={() => step(-ENTRIES)} aria-label="25 entries back">⇤</button>
        <button type="button" class="button" disabled={chosen <= 1} onClick={() => step(-1)}>← Back</button>
        <button type="button" class="button" disabled={isAtEnd} onClick={() => step(1)}>Forward →</button>
        <button type="button" class="button" disabled={found.length < ENTRIES} onClick={() => step(ENTRIES)} aria-label="25 entries forward">⇥</button>
        <span class="muted">entry {chosen}; the arrow keys step, too</span>
      </div>
      <Loaded resource={entries}>{() => found.length === 0 ? <div class="card"><Empty title="The log ends before this entry"><button type="button" class="button" onClick={() => setQuery({ entry: "1" })}>Go to the first one</button></Empty></div> : (
        <div class="grid log">
          <ol class="card entries">{found.map((entry) => (
            <li><button type="button" class="entry" aria-current={entry.seq === chosen ? "true" : undefined} onClick={() => setQuery({ entry: String(entry.seq) })}>
              <span class="mono number">{entry.seq}</span><span class="clip"><strong>{Object.keys(entry.input)[0]}</strong> <span class="muted">{entry.records.map((record) => Object.keys(record)[0]).join(", ")}</span></span><span class="muted small">{clock(entry.at)}</span>
            </button></li>
          ))}</ol>
          <section class="card" aria-label={`Entry ${chosen}`} aria-live="polite">
            <header><h2>Entry {chosen}</h2>{shown ? <span class="note">{dateTime(shown.at)}</span> : null}</header>
            <div class="body"><pre class="code wrapped tall" tabIndex={0}>{shown ? JSON.stringify(shown, null, 2) : "This entry does not exist yet."}</pre></div>
          </section>
        </div>
      )}</Loaded>
      <RawResponses id={run.run_id} version={version} />
    </div>
  );
}

function RawResponses({ id, version }: { id: string; version: string }): JSX.Element {
  const isWanted = useSignal(false);
  const raw = useResource((stop) => (isWanted.value ? getRawResponses(id, stop) : Promise.resolve(null)), [id, isWanted.value, version]);
  if (!isWanted.value) return <div><button type="button" class="button" onClick={() => { isWanted.value = true; }}>Show the provider's raw responses</button></div>;
  return (
    <Loaded resource={raw}>{(list) => (list?.data ?? []).length === 0 ? <div class="card"><Empty title="No response is kept">Responses are kept for a while, and not at all if the store was told so.</Empty></div> : (
      <section class="stack" aria-label="Responses of the provider">{(list?.data ?? []).map((response, index) => (
        <Fold key={index} summary={<><span class="mono">{String(response["entry"] ?? index + 1)}</span><span class="clip">{String(response["model"] ?? response["outcome"] ?? "response")}</span></>}>{() => <pre class="code wrapped">{JSON.stringify(response, null, 2)}</pre>}</Fold>
      ))}</section>
    )}</Loaded>
  );
}
