// All runs, newest first, with filters that are part of the address.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { listRuns, type RunFilter } from "../api/calls";
import { Problem } from "../api/client";
import type { RunSummary } from "../api/types";
import { revision } from "../state/live";
import { link, route, setQuery } from "../state/router";
import { dollars } from "../view/format";
import { Ago, Empty, ProblemBox, StateBadge } from "../view/parts";
import { VirtualList } from "../view/virtual_list";

const PAGE = 100;
const STATES = ["running", "waiting_on_human", "waiting_on_provider", "queued", "completed", "failed", "cancelled", "timed_out"];
const COLUMNS = "minmax(0, 1fr) 164px 130px 130px 84px 96px";

/** Spans of time that runs can be narrowed to, in hours. */
const SPANS: readonly (readonly [string, string, number])[] = [["1h", "Last hour", 1], ["1d", "Last day", 24], ["7d", "Last 7 days", 168], ["30d", "Last 30 days", 720]];
const HOUR_MS = 3_600_000;

/** The begin of a span, by the minute: the list is not loaded again with every second. */
function sinceOf(name: string | null): number | null {
  const hours = SPANS.find(([span]) => span === name)?.[2];
  return hours === undefined ? null : Math.floor(Date.now() / 60_000) * 60_000 - hours * HOUR_MS;
}

function filterOf(query: URLSearchParams): RunFilter {
  const read = (name: string): string | null => query.get(name) || null;
  return { state: read("state"), agent: read("agent"), profile: read("profile"), model: read("model"), tag: read("tag"), text: read("text"), conversation_id: read("conversation"), since_ms: sinceOf(read("since")) };
}

export function RunsPage(): JSX.Element {
  const filter = filterOf(route.value.query);
  const key = JSON.stringify(filter);
  const runs = useSignal<RunSummary[] | null>(null);
  const cursor = useSignal<string | null>(null);
  const problem = useSignal<Problem | null>(null);
  const isLoading = useSignal(false);

  // What is new comes on top; the pages that were read further down stay.
  useEffect(() => {
    const stop = new AbortController();
    listRuns(filter, null, PAGE, stop.signal).then(
      (first) => {
        const known = new Set(first.data.map((run) => run.run_id));
        const isSame = runs.value !== null && loadedKey.value === key;
        const older = isSame ? (runs.value ?? []).slice(PAGE).filter((run) => !known.has(run.run_id)) : [];
        runs.value = [...first.data, ...older];
        if (!isSame || older.length === 0) cursor.value = first.next_cursor;
        loadedKey.value = key;
        problem.value = null;
      },
      (error: unknown) => { if (!stop.signal.aborted && error instanceof Problem) problem.value = error; },
    );
    return () => stop.abort();
  }, [key, revision.value]);
  const loadedKey = useSignal("");

  const loadMore = async (): Promise<void> => {
    if (cursor.value === null || isLoading.value) return;
    isLoading.value = true;
    try {
      const next = await listRuns(filter, cursor.value, PAGE);
      runs.value = [...(runs.value ?? []), ...next.data];
      cursor.value = next.next_cursor;
    } catch (error) {
      if (error instanceof Problem) problem.value = error;
    } finally {
      isLoading.value = false;
    }
  };

  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <>
      <div class="page-head"><h1>Runs</h1></div>
      <Filters filter={filter} />
      {problem.value ? <ProblemBox problem={problem.value} /> : null}
      <div class="card" style={{ marginTop: "14px" }}>
        <div class="list-head" style={{ gridTemplateColumns: COLUMNS }} aria-hidden="true">
          <span>Prompt</span><span>State</span><span>Agent</span><span>Model</span><span class="number">Cost</span><span class="number">Updated</span>
        </div>
        {runs.value === null ? <div class="empty">Loading …</div> : runs.value.length === 0 ? (
          isFiltered
            ? <Empty title="No run matches these filters"><a href={link(["runs"])}>Show all runs</a></Empty>
            : <Empty title="No runs yet">Start one with <code>windlass -p "…"</code>, with <code>POST /v1/conversations</code>, or on the <a href={link(["chat"])}>Chat</a> page.</Empty>
        ) : (
          <VirtualList items={runs.value} rowHeight={56} height="calc(100vh - 220px)" label="Runs" onNearEnd={() => void loadMore()}
            row={(run) => <RunRow key={run.run_id} run={run} />} />
        )}
      </div>
    </>
  );
}

export function RunRow({ run, isNarrow = false }: { run: RunSummary; isNarrow?: boolean }): JSX.Element {
  const narrow = isNarrow || matchMedia("(max-width: 860px)").matches;
  return (
    <a class="list-row" style={{ gridTemplateColumns: narrow ? "minmax(0, 1fr) auto" : COLUMNS }} href={link(["runs", run.run_id])}>
      <span style={{ minWidth: 0 }}>
        <span class="title clip" style={{ display: "block" }}>{run.prompt || "(no prompt)"}{run.tags.map((tag) => <span class="badge plain tag" key={tag}>{tag}</span>)}</span>
        <span class="muted small clip" style={{ display: "block" }}>{run.answer ?? run.folder ?? run.conversation_id}</span>
      </span>
      <span><StateBadge state={shownState(run)} /></span>
      {narrow ? null : (
        <>
          <span class="clip">{run.agent ?? "default"}</span>
          <span class="clip muted">{run.model ?? ""}</span>
          <span class="number">{runCost(run)}</span>
          <span class="number muted"><Ago at={Date.parse(run.updated_at)} /></span>
        </>
      )}
    </a>
  );
}

function Filters({ filter }: { filter: RunFilter }): JSX.Element {
  const text = useSignal(filter.text ?? "");
  useEffect(() => {
    const timer = setTimeout(() => { if (text.value !== (filter.text ?? "")) setQuery({ text: text.value }); }, 250);
    return () => clearTimeout(timer);
  }, [text.value]);
  const field = (name: "agent" | "profile" | "model" | "tag", label: string): JSX.Element => (
    <input class="field" placeholder={label} aria-label={label} style={{ width: "130px" }} value={filter[name] ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value })} />
  );
  return (
    <div class="filters" role="search">
      <input class="field grow" type="search" placeholder="Search prompts and ids" aria-label="Search prompts and ids" value={text.value} onInput={(event) => { text.value = event.currentTarget.value; }} />
      <select class="field" aria-label="State" value={filter.state ?? ""} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
        <option value="">All states</option>
        {filter.state && !STATES.includes(filter.state) ? <option value={filter.state}>{filter.state.replaceAll("_", " ").replaceAll(",", ", ")}</option> : null}
        {STATES.map((state) => <option value={state}>{state.replaceAll("_", " ")}</option>)}
      </select>
      <select class="field" aria-label="Time" value={route.value.query.get("since") ?? ""} onChange={(event) => setQuery({ since: event.currentTarget.value })}>
        <option value="">Any time</option>
        {SPANS.map(([span, label]) => <option value={span}>{label}</option>)}
      </select>
      {field("agent", "Agent")}{field("profile", "Profile")}{field("model", "Model")}{field("tag", "Tag")}
      {filter.conversation_id ? <a class="badge plain" href={link(["runs"])} title="Show all conversations">{filter.conversation_id} ✕</a> : null}
    </div>
  );
}

/** The state for people: a run that timed out without a stop cause was interrupted. */
export function shownState(run: RunSummary): string {
  return run.state === "timed_out" && run.stop_cause === null ? "interrupted" : run.state;
}

/** All runs of a conversation. */
export function conversationLink(conversation: string): string {
  return link(["runs"], { conversation });
}

export function runCost(run: RunSummary): string {
  return dollars(run.cost_usd_micros === null ? null : run.cost_usd_micros / 1_000_000);
}
