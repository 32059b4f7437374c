// One run: what it does or why it stopped, its timeline, its conversation, and its record.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { cancelRun, forkRun, getEntries, getExplanation, getRun, getRunEvents, getTimeline, getTrace, resumeRun } from "../api/calls";
import type { EventRow, Explanation, IterationRow, RunSummary } from "../api/types";
import { revision, useRunRevision } from "../state/live";
import { useResource } from "../state/resource";
import { link, route, setQuery } from "../state/router";
import { useFollowedRun } from "../state/run_stream";
import { TimeChart } from "../view/chart";
import { Conversation } from "../view/conversation";
import { clock, dateTime, duration, tokens } from "../view/format";
import { Action, Ago, Card, Empty, Fold, Loaded, StateBadge, words } from "../view/parts";
import { Waterfall } from "../view/waterfall";
import { runCost, shownState } from "./runs";

const TABS: readonly (readonly [string, string])[] = [
  ["timeline", "Timeline"], ["conversation", "Conversation"], ["explanation", "Explanation"],
  ["iterations", "Iterations"], ["events", "Events"], ["entries", "Log entries"],
];

export function RunPage({ id, tab }: { id: string; tab: string }): JSX.Element {
  const changes = useRunRevision(id);
  const version = `${revision.value} ${changes.value}`;
  const run = useResource((stop) => getRun(id, stop), [id, version]);
  return (
    <Loaded resource={run}>
      {(found) => (
        <>
          <RunHead run={found} />
          <Handoff run={found} version={version} />
          <nav class="tabs" aria-label="Views of the run">
            {TABS.map(([name, label]) => <a href={link(["runs", id, name])} aria-current={name === tab ? "page" : undefined}>{label}</a>)}
          </nav>
          {tabView(tab, found, version)}
        </>
      )}
    </Loaded>
  );
}

function tabView(tab: string, run: RunSummary, version: string): JSX.Element {
  switch (tab) {
    case "conversation": return <ConversationTab run={run} />;
    case "explanation": return <ExplanationTab run={run} version={version} />;
    case "iterations": return <IterationsTab run={run} version={version} />;
    case "events": return <EventsTab run={run} version={version} />;
    case "entries": return <EntriesTab run={run} version={version} />;
    default: return <TimelineTab run={run} version={version} />;
  }
}

const isActive = (run: RunSummary): boolean => run.stop_cause === null && run.state !== "queued";

function RunHead({ run }: { run: RunSummary }): JSX.Element {
  const canStop = run.stop_cause === null && !run.is_cancel_requested;
  const canResume = run.is_resumable || shownState(run) === "interrupted";
  return (
    <>
      <div class="page-head">
        <h1>{run.prompt || "Run without a prompt"}</h1>
        <StateBadge state={shownState(run)} />
        <div class="actions">
          <Action label="Stop" tone="danger" done="The run stops at the next safe point" disabled={!canStop}
            title={canStop ? "Stop at the next safe point" : run.is_cancel_requested ? "A stop was requested already" : "The run has ended"} run={() => cancelRun(run.run_id)} />
          <Action label="Resume" tone={canResume ? "primary" : ""} done="The run continues" disabled={!canResume}
            title={canResume ? "Continue where it was left" : "Nothing is left to resume"} run={() => resumeRun(run.run_id)} />
          <ForkButton run={run} />
        </div>
      </div>
      <p class="row muted small" style={{ margin: "-8px 0 16px" }}>
        <a href={link(["runs"], { conversation: run.conversation_id })}>{run.conversation_id}</a>
        <span>· {run.agent ?? "default"}</span><span>· {run.model ?? "model unknown"}</span><span>· {runCost(run)}</span>
        {run.folder ? <span class="mono">· {run.folder}</span> : null}<span>· updated <Ago at={Date.parse(run.updated_at)} /></span>
        {run.stop_cause ? <span>· {words(run.stop_cause)}</span> : null}
      </p>
    </>
  );
}

function ForkButton({ run }: { run: RunSummary }): JSX.Element {
  const isOpen = useSignal(false);
  const prompt = useSignal(run.prompt ?? "");
  if (!isOpen.value) return <button type="button" class="button" onClick={() => { isOpen.value = true; }}>Fork …</button>;
  const fork = async (): Promise<void> => {
    const made = await forkRun(run.run_id, prompt.value.trim() || null);
    location.hash = made.run_id ? link(["runs", made.run_id]) : link(["chat", made.conversation_id]);
  };
  return (
    <div class="card" style={{ flexBasis: "100%", minWidth: "min(420px, 80vw)" }}>
      <div class="body stack">
        <label class="labelled">A copy of the conversation continues with this prompt
          <textarea class="field" rows={3} value={prompt.value} onInput={(event) => { prompt.value = event.currentTarget.value; }} />
        </label>
        <div class="row">
          <Action label="Fork" tone="primary" done="The conversation was copied" run={fork} />
          <button type="button" class="button quiet" onClick={() => { isOpen.value = false; }}>Keep it as it is</button>
        </div>
      </div>
    </div>
  );
}

/** What a person needs who takes over a run that failed: objective, state, next step. */
function Handoff({ run, version }: { run: RunSummary; version: string }): JSX.Element | null {
  const needsPerson = ["failed", "timed_out", "waiting_on_human"].includes(run.state);
  const explanation = useResource((stop) => (needsPerson ? getExplanation(run.run_id, stop) : Promise.resolve(null)), [run.run_id, run.state, needsPerson, version]);
  const found = explanation.data.value;
  if (!needsPerson || !found) return null;
  const ending = found.sections.find((section) => section.topic === "ending")?.sentences ?? [];
  return (
    <section class="card" style={{ marginBottom: "16px" }} aria-label="Handoff">
      <div class="pending">
        <p class="headline">{ending[0]?.text ?? words(shownState(run))}</p>
        <dl class="facts">
          <dt>Objective</dt><dd class="wrap">{run.prompt ?? "unknown"}</dd>
          {run.answer ? <><dt>Last answer</dt><dd class="wrap">{run.answer}</dd></> : null}
          {ending.length > 1 ? <><dt>Next step</dt><dd class="wrap">{ending.slice(1).map((sentence) => sentence.text).join(" ")}</dd></> : null}
        </dl>
        {run.state === "waiting_on_human" ? <div><a class="button primary" href={link(["inbox"])}>Answer in the inbox</a></div> : null}
      </div>
    </section>
  );
}

function TimelineTab({ run, version }: { run: RunSummary; version: string }): JSX.Element {
  const timeline = useResource((stop) => getTimeline(run.run_id, stop), [run.run_id, version]);
  const trace = useResource((stop) => getTrace(run.run_id, stop), [run.run_id, version]);
  return (
    <div class="stack">
      <Card title="What happened when">
        <Loaded resource={timeline}>{(found) => <Waterfall timeline={found} onEntry={(entry) => { location.hash = link(["runs", run.run_id, "entries"], { entry: String(entry) }); }} />}</Loaded>
      </Card>
      <Loaded resource={trace}>{(found) => (found.data.length > 1 ? <ContextCharts rows={found.data} /> : null)}</Loaded>
    </div>
  );
}

function ContextCharts({ rows }: { rows: IterationRow[] }): JSX.Element {
  const at = rows.map((row) => row.at_ms);
  const cached = rows.map((row) => row.cache_read);
  const fresh = rows.map((row) => row.input_tokens + row.cache_write);
  return (
    <div class="grid two">
      <Card title="Context" note="tokens sent with each model call">
        <TimeChart at={at} label="Tokens sent with each model call" lines={[{ label: "Sent", color: "--span-model", values: rows.map((row) => row.input_tokens + row.cache_read + row.cache_write), format: tokens }]} />
      </Card>
      <Card title="Prompt cache" note="tokens of each call that came from the cache, and that did not">
        <TimeChart at={at} label="Use of the prompt cache" lines={[
          { label: "From the cache", color: "--span-tool", values: cached, format: tokens },
          { label: "Not cached", color: "--span-retry", values: fresh, format: tokens },
        ]} />
      </Card>
    </div>
  );
}

function ConversationTab({ run }: { run: RunSummary }): JSX.Element {
  const conversation = useFollowedRun(run.conversation_id);
  if (conversation.problem.value) return <div class="problem">{conversation.problem.value.message}</div>;
  return (
    <Card title="Conversation" note={isActive(run) ? "as it happens" : undefined}>
      {conversation.messages.value.length === 0 ? <Empty title="No messages yet" /> : <Conversation messages={conversation.messages.value} live={conversation.liveText.value} />}
    </Card>
  );
}

const TOPICS: Record<string, string> = {
  ending: "Why it stopped", limits: "What was used", calls: "Denied, failed and delayed calls", context: "Context",
  recoveries: "Retries and recoveries", guards: "Guards", children: "Sub-agents",
};

function ExplanationTab({ run, version }: { run: RunSummary; version: string }): JSX.Element {
  const explanation = useResource((stop) => getExplanation(run.run_id, stop), [run.run_id, version]);
  return <Card title="Explanation" note="with the log entries that prove it"><Loaded resource={explanation}>{(found) => <ExplanationView run={run} found={found} />}</Loaded></Card>;
}

function ExplanationView({ run, found }: { run: RunSummary; found: Explanation }): JSX.Element {
  return (
    <div class="evidence">
      {found.sections.map((section) => (
        <section key={section.topic}>
          <h3>{TOPICS[section.topic] ?? words(section.topic)}</h3>
          <ul>{section.sentences.map((sentence) => (
            <li class="wrap">{sentence.text} {sentence.entries.map((entry) => <a class="small" href={link(["runs", run.run_id, "entries"], { entry: String(entry) })}> [{entry}]</a>)}</li>
          ))}</ul>
        </section>
      ))}
    </div>
  );
}

function IterationsTab({ run, version }: { run: RunSummary; version: string }): JSX.Element {
  const trace = useResource((stop) => getTrace(run.run_id, stop), [run.run_id, version]);
  const chosen = route.value.query.get("iteration");
  return (
    <Loaded resource={trace}>{(found) => found.data.length === 0 ? <Empty title="No iteration yet" /> : (
      <section class="card scroll-x">
        <table>
          <thead><tr><th class="number">Iteration</th><th>Time</th><th>Reason</th><th>Calls</th><th class="number">In</th><th class="number">Cached</th><th class="number">Out</th><th>Stop</th></tr></thead>
          <tbody>{found.data.map((row) => (
            <tr key={row.iter} style={String(row.iter) === chosen ? { background: "var(--accent-soft)" } : {}}>
              <td class="number"><a href={link(["runs", run.run_id, "iterations"], { iteration: String(row.iter) })}>{row.iter}</a></td>
              <td title={dateTime(row.at_ms)}>{clock(row.at_ms)}</td>
              <td>{words(row.transition)}</td>
              <td>{row.tool_calls.map((call) => <span class={`badge ${call.ok ? "ok" : "bad"}`} style={{ margin: "0 4px 4px 0" }}>{call.name} {duration(call.ms)}</span>)}</td>
              <td class="number">{tokens(row.input_tokens + row.cache_write)}</td>
              <td class="number">{tokens(row.cache_read)}</td>
              <td class="number">{tokens(row.output_tokens)}</td>
              <td>{row.stop_reason ? words(row.stop_reason) : "–"}</td>
            </tr>
          ))}</tbody>
        </table>
      </section>
    )}</Loaded>
  );
}

function EventsTab({ run, version }: { run: RunSummary; version: string }): JSX.Element {
  const events = useResource((stop) => getRunEvents(run.run_id, stop), [run.run_id, version]);
  return <Loaded resource={events}>{(found) => found.data.length === 0 ? <Empty title="No events yet" /> : <EventTable events={found.data} />}</Loaded>;
}

export function EventTable({ events }: { events: readonly EventRow[] }): JSX.Element {
  return (
    <section class="card scroll-x">
      <table>
        <thead><tr><th>Time</th><th>Event</th><th>Details</th></tr></thead>
        <tbody>{events.map((event) => (
          <tr><td title={dateTime(event.at_ms)}>{clock(event.at_ms)}</td><td class="mono">{event.name}</td>
            <td class="wrap small mono">{Object.entries(event.fields).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`).join("  ")}</td></tr>
        ))}</tbody>
      </table>
    </section>
  );
}

const ENTRIES = 25;

/** The raw log, stepped through forwards and backwards. */
function EntriesTab({ run, version }: { run: RunSummary; version: string }): JSX.Element {
  const from = Math.max(1, Number(route.value.query.get("entry") ?? "1") || 1);
  const entries = useResource((stop) => getEntries(run.run_id, from - 1, ENTRIES, stop), [run.run_id, from, version]);
  const step = (by: number): void => setQuery({ entry: String(Math.max(1, from + by)) });
  return (
    <div class="stack">
      <div class="row">
        <button type="button" class="button" disabled={from <= 1} onClick={() => step(-ENTRIES)}>← Earlier</button>
        <button type="button" class="button" onClick={() => step(ENTRIES)}>Later →</button>
        <span class="muted">from entry {from}</span>
      </div>
      <Loaded resource={entries}>{(found) => found.data.length === 0 ? <Empty title="The log ends here" /> : (
        <div class="stack">{(found.data as { seq: number; at: number; input: object; records: object[] }[]).map((entry) => (
          <Fold key={entry.seq} open={entry.seq === from} summary={<><span class="mono">{entry.seq}</span><span>{Object.keys(entry.input)[0]}</span><span class="muted clip">{entry.records.map((record) => Object.keys(record)[0]).join(", ")}</span><span class="muted small">{clock(entry.at)}</span></>}>
            {() => <pre class="code wrapped">{JSON.stringify(entry, null, 2)}</pre>}
          </Fold>
        ))}</div>
      )}</Loaded>
    </div>
  );
}

