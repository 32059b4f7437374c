// One run: what it does or why it stopped, and the ways to look at it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { cancelRun, forkRun, getExplanation, getRun, getTimeline, resumeRun } from "../api/calls";
import type { Explanation, RunSummary } from "../api/types";
import { revision, useRunRevision } from "../state/live";
import { useResource, type Resource } from "../state/resource";
import { link } from "../state/router";
import { useFollowedRun } from "../state/run_stream";
import { Conversation } from "../view/conversation";
import { codeSpans } from "../view/markdown";
import { Action, Ago, Card, Empty, ExcerptView, Loaded, StateBadge, words } from "../view/parts";
import { Waterfall } from "../view/waterfall";
import { SubAgentsTab } from "./run_agents";
import { ContextTab } from "./run_context";
import { EntriesTab, EventsTab, IterationsTab } from "./run_record";
import { conversationLink, runCost, shownState } from "./runs";

const TABS: readonly (readonly [string, string])[] = [
  ["timeline", "Timeline"], ["conversation", "Conversation"], ["explanation", "Explanation"], ["iterations", "Iterations"],
  ["context", "Context and cache"], ["sub-agents", "Sub-agents"], ["events", "Events"], ["entries", "Log entries"],
];

export interface TabProps {
  readonly run: RunSummary;
  readonly explanation: Resource<Explanation>;
  readonly version: string;
}

export function RunPage({ id, tab }: { id: string; tab: string }): JSX.Element {
  const changes = useRunRevision(id);
  const version = `${revision.value} ${changes.value}`;
  const run = useResource((stop) => getRun(id, stop), [id, version]);
  const explanation = useResource((stop) => getExplanation(id, stop), [id, version]);
  const prompt = run.data.value?.prompt;
  useEffect(() => { if (prompt) document.title = `${prompt.slice(0, 60)} · Windlass`; }, [prompt]);
  return (
    <Loaded resource={run}>
      {(found) => (
        <>
          <RunHead run={found} />
          <Handoff run={found} explanation={explanation.data.value} />
          <nav class="tabs" aria-label="Views of the run">
            {TABS.map(([name, label]) => <a href={link(["runs", id, name])} aria-current={name === tab ? "page" : undefined}>{label}</a>)}
          </nav>
          {tabView(tab, { run: found, explanation, version })}
        </>
      )}
    </Loaded>
  );
}

function tabView(tab: string, props: TabProps): JSX.Element {
  switch (tab) {
    case "conversation": return <ConversationTab {...props} />;
    case "explanation": return <ExplanationTab {...props} />;
    case "iterations": return <IterationsTab {...props} />;
    case "context": return <ContextTab {...props} />;
    case "sub-agents": return <SubAgentsTab {...props} />;
    case "events": return <EventsTab {...props} />;
    case "entries": return <EntriesTab {...props} />;
    default: return <TimelineTab {...props} />;
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
        <a class="clip" href={conversationLink(run.conversation_id)} title={`All runs of the conversation ${run.conversation_id}`}>{run.conversation_id}</a>
        <span>· {run.agent ?? "default"}</span>{run.profile && run.profile !== "default" ? <span>· {run.profile}</span> : null}<span>· {run.model ?? "model unknown"}</span>{run.cost_usd_micros === null ? null : <span>· {runCost(run)}</span>}
        {run.folder ? <span class="mono">· {run.folder}</span> : null}<span>· updated <Ago at={Date.parse(run.updated_at)} /></span>
        {run.stop_cause ? <span>· {words(run.stop_cause)}</span> : null}
        {run.tags.map((tag) => <a class="badge plain tag" key={tag} href={link(["runs"], { tag })} title="All runs with this tag">{tag}</a>)}
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

/** The sentence without the ids that the page shows elsewhere. */
export function shortHeadline(explanation: Explanation): string {
  const rest = explanation.headline.split(` of ${explanation.conversation} `)[1] ?? explanation.headline;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function journalNote(explanation: Explanation, name: string): string | null {
  const notes = explanation.sections.find((section) => section.topic === "journal")?.sentences ?? [];
  return notes.find((note) => note.text.startsWith(`${name}: `))?.text.slice(name.length + 2) ?? null;
}

/** What a person needs who takes over a run: objective, state, next step. */
function Handoff({ run, explanation }: { run: RunSummary; explanation: Explanation | null }): JSX.Element | null {
  if (explanation === null || run.state === "queued") return null;
  const isUnfinished = explanation.failed_calls.some((call) => !call.is_made_good) || explanation.sub_agents.some((agent) => agent.state === "failed");
  const needsPerson = ["failed", "timed_out", "waiting_on_human"].includes(run.state) || explanation.is_interrupted || (run.state === "completed" && isUnfinished);
  if (!needsPerson) return null;
  const ending = explanation.sections.find((section) => section.topic === "ending")?.sentences ?? [];
  const next = journalNote(explanation, "next action");
  return (
    <section class={`card handoff ${run.state}`} aria-label="Handoff">
      <div class="pending">
        <p class="headline">{shortHeadline(explanation)}</p>
        <dl class="facts">
          <dt>Objective</dt><dd class="wrap">{journalNote(explanation, "objective") ?? <ExcerptView text={explanation.prompt} />}</dd>
          <dt>State</dt><dd class="wrap markdown">{journalNote(explanation, "state") ? <p>{journalNote(explanation, "state")}</p> : null}{ending.slice(0, 3).map((sentence) => <p>{codeSpans(sentence.text)}</p>)}</dd>
          {explanation.answer ? <><dt>Last answer</dt><dd class="wrap"><ExcerptView text={explanation.answer} /></dd></> : null}
          {next || explanation.advice.length > 0 ? <><dt>Next step</dt><dd class="wrap markdown">{next ? <p>{next}</p> : null}{explanation.advice.map((advice) => <p>{codeSpans(advice)}</p>)}</dd></> : null}
          {explanation.waiting_prompts.length > 0 ? <><dt>Behind it</dt><dd class="wrap">{explanation.waiting_prompts.map((prompt) => <p><ExcerptView text={prompt} /></p>)}</dd></> : null}
        </dl>
        {run.state === "waiting_on_human" ? <div><a class="button primary" href={link(["inbox"])}>Answer in the inbox</a></div> : null}
      </div>
    </section>
  );
}

function TimelineTab({ run, version }: TabProps): JSX.Element {
  const timeline = useResource((stop) => getTimeline(run.run_id, stop), [run.run_id, version]);
  return (
    <Card title="What happened when" note="a line has its details when it is pressed">
      <Loaded resource={timeline}>{(found) => <Waterfall timeline={found} onEntry={(entry) => { location.hash = link(["runs", run.run_id, "entries"], { entry: String(entry) }); }} />}</Loaded>
    </Card>
  );
}

function ConversationTab({ run }: TabProps): JSX.Element {
  const conversation = useFollowedRun(run.conversation_id);
  if (conversation.problem.value) return <div class="problem">{conversation.problem.value.message}</div>;
  return (
    <Card title="Conversation" note={isActive(run) ? "as it happens" : undefined}>
      {conversation.messages.value.length === 0 ? <Empty title="No messages yet">They appear here as they are written.</Empty> : <Conversation messages={conversation.messages.value} live={conversation.liveText.value} />}
    </Card>
  );
}

const TOPICS: Record<string, string> = {
  ending: "Why it stopped", advice: "What to do", limits: "What was used", calls: "Failed, denied and delayed calls", context: "Context",
  recoveries: "Retries and recoveries", guards: "Guards", sub_agents: "Sub-agents", cache: "Prompt cache", journal: "Journal",
};

function ExplanationTab({ run, explanation }: TabProps): JSX.Element {
  return <Card title="Explanation" note="with the log entries that prove it"><Loaded resource={explanation}>{(found) => <ExplanationView run={run} found={found} />}</Loaded></Card>;
}

function ExplanationView({ run, found }: { run: RunSummary; found: Explanation }): JSX.Element {
  const title = (topic: string): string => (topic === "ending" && run.stop_cause === null ? (found.is_interrupted ? "What it was doing" : "What it does") : TOPICS[topic] ?? words(topic));
  const shown = (entries: readonly number[]): readonly number[] => (entries.length > 3 ? [entries[0] ?? 0, entries.at(-1) ?? 0] : entries);
  return (
    <div class="evidence markdown">
      <p class="headline">{shortHeadline(found)}</p>
      {found.sections.map((section) => (
        <section key={section.topic}>
          <h3>{title(section.topic)}</h3>
          <ul>{section.sentences.map((sentence) => (
            <li class="wrap">{codeSpans(sentence.text)}{sentence.entries.length > 3 ? <span class="muted"> ({sentence.entries.length} entries)</span> : null}{shown(sentence.entries).map((entry) => <a class="small" href={link(["runs", run.run_id, "entries"], { entry: String(entry) })} aria-label={`Entry ${entry}`}> [{entry}]</a>)}</li>
          ))}</ul>
        </section>
      ))}
    </div>
  );
}
