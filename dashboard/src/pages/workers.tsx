// The processes that drive conversations.
import type { JSX } from "preact";
import { listWorkers } from "../api/calls";
import { now, revision } from "../state/live";
import { useResource } from "../state/resource";
import { Ago, Empty, Loaded } from "../view/parts";

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
                  <td class="mono small">{worker.worker_id}</td>
                  <td><span class={`badge ${worker.is_live ? "ok" : "bad"}`}>{worker.is_live ? "Live" : "Silent"}</span></td>
                  <td>{worker.host}</td><td class="number">{worker.lanes}</td><td class="wrap mono small">{worker.workspaces.join("\n")}</td>
                  <td><Ago at={worker.heartbeat_at_ms} /></td><td><Ago at={worker.started_at_ms} /></td>
                </tr>
              ))}</tbody>
            </table>
          </section>
        )}</Loaded>
    </>
  );
}
