// The API Logs view: events and retries, live and searchable.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { getStats, listEvents } from "../api/calls";
import { revision, slowRevision } from "../state/live";
import { useResource } from "../state/resource";
import { link, route, setQuery } from "../state/router";
import type { EventRow } from "../api/types";
import { clock, dateTime, eventField } from "../view/format";
import { Empty, Loaded } from "../view/parts";

const LIMIT = 200;

const TONES: readonly (readonly [RegExp, string])[] = [
  [/failed|denied|undispatchable|unsafe|rejected/, "bad"], [/retry|truncated|escalat|loop|warn|expired|abandoned|waiting|asked|recovery|fell_back/, "warn"], [/completed|resumed/, "ok"],
];

/** What is looked for most: a part of the event's name. */
const KINDS: readonly (readonly [string, string])[] = [["All", ""], ["Retries", "retry"], ["Failures", "failed"], ["Escalations", "escalated"], ["Questions", "asked"]];

export function LogsPage(): JSX.Element {
  const text = useSignal(route.value.query.get("text") ?? "");
  const isPaused = useSignal(false);
  const name = route.value.query.get("name");
  const search = route.value.query.get("text");
  const events = useResource((stop) => listEvents({ name, text: search }, null, LIMIT, stop), [name, search, isPaused.value ? 0 : revision.value]);
  useEffect(() => {
    const timer = setTimeout(() => { if (text.value !== (search ?? "")) setQuery({ text: text.value }); }, 250);
    return () => clearTimeout(timer);
  }, [text.value]);
  return (
    <>
      <div class="page-head"><h1>Logs</h1><div class="actions"><button type="button" class="button" aria-pressed={isPaused.value} onClick={() => { isPaused.value = !isPaused.value; }}>{isPaused.value ? "Continue" : "Pause"}</button></div></div>
      <div class="filters" role="search" style={{ marginBottom: "14px" }}>
        <input class="field grow" type="search" placeholder="Search events" aria-label="Search events" value={text.value} onInput={(event) => { text.value = event.currentTarget.value; }} />
        <div class="segments" role="group" aria-label="Kind of event">{KINDS.map(([label, value]) => <button type="button" aria-pressed={(name ?? "") === value} onClick={() => setQuery({ name: value })}>{label}</button>)}</div>
        <input class="field" placeholder="Event name" aria-label="Event name" value={name ?? ""} onChange={(event) => setQuery({ name: event.currentTarget.value })} />
      </div>
      <OftenEscalating />
      <Loaded resource={events}>{(found) => found.data.length === 0 ? <div class="card"><Empty title={search || name ? "No event matches" : "No events yet"}>Events of runs appear here as they happen.</Empty></div> : <EventList events={found.data} />}</Loaded>
    </>
  );
}

const DAYS = 30;

/** Agents that escalate more than once for every two runs, as `windlass stats` has it. */
function OftenEscalating(): JSX.Element | null {
  const stats = useResource((stop) => getStats({ days: DAYS }, stop), [slowRevision.value]);
  const often = (stats.data.value?.agents ?? []).map((agent) => ({ agent, share: Object.values(agent.escalations).reduce((sum, count) => sum + count, 0) / Math.max(1, agent.runs) })).filter(({ share }) => share > 0.5);
  if (often.length === 0) return null;
  return (
    <p class="row small" style={{ marginBottom: "14px" }}>
      <span class="muted">Agents that escalate often:</span>
      {often.map(({ agent, share }) => <a class="badge bad" href={link([], { agent: agent.agent })} title={Object.entries(agent.escalations).map(([name, count]) => `${name}: ${count}`).join(", ")}>{agent.agent}{agent.profile && agent.profile !== "default" ? ` (${agent.profile})` : ""} {share.toFixed(2)} per run</a>)}
    </p>
  );
}

function EventList({ events }: { events: readonly EventRow[] }): JSX.Element {
  return (
    <section class="card scroll-x" tabIndex={0} aria-label="Events">
      <table>
        <thead><tr><th>Time</th><th>Event</th><th>Agent</th><th>Run</th><th>Details</th></tr></thead>
        <tbody>{events.map((event) => (
          <tr>
            <td title={dateTime(event.at_ms)}>{clock(event.at_ms)}</td>
            <td><span class={`badge plain ${TONES.find(([pattern]) => pattern.test(event.name))?.[1] ?? ""}`}>{event.name}</span></td>
            <td>{event.agent}</td>
            <td class="mono small">{event.run_id ? <a href={link(["runs", event.run_id, "entries"], { entry: String(event.entry) })}>{event.run_id.slice(0, 8)}</a> : "–"}</td>
            <td class="wrap small mono details">{Object.entries(event.fields).map(([name, value]) => eventField(name, value)).join("  ")}</td>
          </tr>
        ))}</tbody>
      </table>
    </section>
  );
}
