// The processes that drive conversations.
import type { JSX } from "preact";
import { getExplanation, listRuns, listWorkers } from "../api/calls";
import type { RunSummary } from "../api/types";
import { now, revision } from "../state/live";
import { useResource } from "../state/resource";
import { link } from "../state/router";
import { codeSpans } from "../view/markdown";
import { Ago, Empty, Loaded, StateBadge } from "../view/parts";
import { shownState } from "./runs";

/** Waiting runs that are explained one by one. */
const MAX_WAITING = 20;

export function WorkersPage(): JSX.Element {
  const workers = useResource(listWorkers, [revision.value, Math.floor(now.value / 5_000)]);
  return (
    <>
      <div class="page-head"><h1>Workers</h1></div>
      <Loaded resource={workers}>{(found) => found.data.length === 0
        ? <div class="card"><Empty title="No worker is running">Prompts wait until one is started: <code>windlass worker</code></Empty></div>
        : (
          <section class="card scroll-x">
            <table>
              <thead><tr><th>Worker</th><th>State</th><th>Host</th><th class="number">Conversations</th><th>Workspaces</th><th>Heartbeat</th><th>Started</th></tr></thead>
              <tbody>{found.data.map((worker) => (
                <tr>
                  <td class="mono small name" title={worker.worker_id}>{worker.worker_id}</td>
                  <td><span class={`badge ${worker.is_live ? "ok" : "bad"}`}>{worker.is_live ? "Live" : "Silent"}</span></td>
                  <td>{worker.host}</td><td class="number">{worker.lanes}</td><td class="wrap mono small">{[...new Set(worker.workspaces)].join("\n")}</td>
                  <td><Ago at={worker.heartbeat_at_ms} /></td><td><Ago at={worker.started_at_ms} /></td>
                </tr>
              ))}</tbody>
            </table>
          </section>
        )}</Loaded>
      <Waiting />
    </>
  );
}

/** Runs that no process drives, and what each waits for: a worker, one with its workspace, a person. */
function Waiting(): JSX.Element {
  const runs = useResource((stop) => listRuns({ state: "queued,running,waiting_on_provider,timed_out" }, null, MAX_WAITING, stop), [revision.value]);
  return (
    <section class="card" style={{ marginTop: "16px" }}>
      <header><h2>What waits for which</h2><span class="note">runs that are queued, run, or were interrupted</span></header>
      <Loaded resource={runs}>{(found) => {
        const open = found.data.filter((run) => run.stop_cause === null);
        return open.length === 0 ? <Empty title="Nothing waits">Queued and interrupted runs appear here with what they need.</Empty> : <ul class="plain">{open.map((run) => <WaitingRun key={run.run_id} run={run} />)}</ul>;
      }}</Loaded>
    </section>
  );
}

function WaitingRun({ run }: { run: RunSummary }): JSX.Element {
  const explanation = useResource((stop) => getExplanation(run.run_id, stop), [run.run_id, revision.value]);
  const why = explanation.data.value?.sections.find((section) => section.topic === "ending")?.sentences.at(-1)?.text;
  return (
    <li>
      <div class="row"><StateBadge state={shownState(run)} /><a class="clip" href={link(["runs", run.run_id])}>{run.prompt || run.run_id}</a>{run.folder ? <span class="mono small muted">{run.folder}</span> : null}</div>
      <p class="small muted markdown">{why ? codeSpans(why) : run.state === "queued" ? "It starts when a worker takes it." : null}</p>
    </li>
  );
}
