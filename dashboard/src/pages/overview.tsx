// The first page: what needs a person, what runs, how runs end, and what they cost.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { getStats, listRuns } from "../api/calls";
import type { Stats } from "../api/types";
import { revision } from "../state/live";
import { useResource } from "../state/resource";
import { link } from "../state/router";
import { TimeChart } from "../view/chart";
import { dollars, integer, percent, plural, tokens } from "../view/format";
import { Card, Empty, Loaded, words } from "../view/parts";
import { RunRow } from "./runs";

const DAYS = 30;
/** The share of runs that may end on an unexpected stop reason. */
const UNEXPECTED_TARGET = 0.003;

export function OverviewPage(): JSX.Element {
  const agent = useSignal("");
  const stats = useResource((stop) => getStats({ days: DAYS, agent: agent.value || null }, stop), [agent.value, revision.value]);
  return (
    <>
      <div class="page-head"><h1>Overview</h1><span class="muted">the last {DAYS} days</span></div>
      <Loaded resource={stats}>{(found) => (
        <div class="stack">
          <Tiles stats={found} />
          <div class="grid two">
            <Attention />
            <Endings stats={found} />
          </div>
          <Days stats={found} />
          <div class="grid two">
            <Iterations stats={found} />
            <Tools stats={found} />
            <Agents stats={found} chosen={agent.value} onChoose={(name) => { agent.value = name; }} />
          </div>
        </div>
      )}</Loaded>
    </>
  );
}

function Tiles({ stats }: { stats: Stats }): JSX.Element {
  const count = (state: string): number => stats.states?.[state] ?? 0;
  const share = stats.runs > 0 ? stats.unexpected / stats.runs : 0;
  const tiles: readonly { label: string; value: string; state?: string; tone?: string }[] = [
    { label: "running", value: integer(count("running")), state: "running" },
    { label: "wait for a person", value: integer(count("waiting_on_human")), state: "waiting_on_human", tone: count("waiting_on_human") > 0 ? "attention" : "" },
    { label: "failed", value: integer(count("failed")), state: "failed", tone: count("failed") > 0 ? "bad" : "" },
    { label: "stopped or interrupted", value: integer(count("timed_out")), state: "timed_out" },
    { label: "stopped at the cap", value: stats.runs > 0 ? percent(stats.stopped_at_cap / stats.runs) : "–" },
    { label: `unexpected ends, at most ${percent(UNEXPECTED_TARGET)}`, value: stats.runs > 0 ? percent(share, 2) : "–", tone: share > UNEXPECTED_TARGET ? "bad" : "" },
  ];
  return (
    <div class="tiles">{tiles.map((tile) => {
      const inside = <><span class="value">{tile.value}</span>{" "}<span class="label">{tile.label}</span></>;
      const style = `tile ${tile.tone ?? ""}`;
      return tile.state ? <a class={style} href={link(tile.state === "waiting_on_human" ? ["inbox"] : ["runs"], tile.state === "waiting_on_human" ? {} : { state: tile.state })}>{inside}</a> : <div class={style}>{inside}</div>;
    })}</div>
  );
}

/** What somebody should look at, newest first. */
function Attention(): JSX.Element {
  const runs = useResource((stop) => listRuns({ state: "waiting_on_human,waiting_on_provider,failed,timed_out" }, null, 6, stop), [revision.value]);
  return (
    <section class="card">
      <header><h2>Needs attention</h2><span class="note"><a href={link(["runs"])}>all runs</a></span></header>
      <Loaded resource={runs}>{(found) => found.data.length === 0
        ? <Empty title="Nothing needs attention">Runs that fail, wait or were interrupted appear here.</Empty>
        : <div>{found.data.map((run) => <RunRow key={run.run_id} run={run} isNarrow />)}</div>}</Loaded>
    </section>
  );
}

function Endings({ stats }: { stats: Stats }): JSX.Element {
  const reasons = Object.entries(stats.reasons).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...reasons.map(([, count]) => count));
  const tone = (reason: string): string => (reason === "end_turn" ? "" : ["max_iters", "budget", "cancelled"].includes(reason) ? "warn" : "bad");
  return (
    <Card title="How runs end" note={plural(stats.runs, "run")}>
      {reasons.length === 0 ? <Empty title="No run has ended yet">Start one on the <a href={link(["chat"])}>Chat</a> page.</Empty> : (
        <div class="bars">{reasons.map(([reason, count]) => (
          <div class="bar"><span class="clip" title={reason}>{words(reason)}</span><span class="track"><span class={`fill ${tone(reason)}`} style={{ width: `${(count / most) * 100}%`, display: "block" }} /></span><span class="number">{integer(count)}</span></div>
        ))}</div>
      )}
    </Card>
  );
}

function Days({ stats }: { stats: Stats }): JSX.Element | null {
  const days = stats.days ?? [];
  if (days.length === 0) return null;
  const at = days.map((day) => Date.parse(`${day.day}T00:00:00Z`));
  return (
    <div class="grid two">
      <Card title="Stopped at the cap" note="share of the runs of each day">
        <TimeChart at={at} bars label="Share of runs that stopped at the cap, per day" lines={[{ label: "Share", color: "--span-retry", values: days.map((day) => (day.runs > 0 ? day.stopped_at_cap / day.runs : null)), format: (value) => percent(value) }]} />
      </Card>
      <Card title="Cost" note="US dollars per day; models without a known price are not in it">
        <TimeChart at={at} bars label="Cost per day" lines={[{ label: "Cost", color: "--span-model", values: days.map((day) => (day.cost_usd_micros ?? 0) / 1_000_000), format: dollars }]} />
      </Card>
      {days.some((day) => day.tokens !== undefined) ? (
        <Card title="Tokens" note="per day">
          <TimeChart at={at} bars label="Tokens per day" lines={[{ label: "Tokens", color: "--span-tool", values: days.map((day) => day.tokens ?? 0), format: tokens }]} />
        </Card>
      ) : null}
      <Card title="Runs" note="per day">
        <TimeChart at={at} bars label="Runs per day" lines={[{ label: "Runs", color: "--span-review", values: days.map((day) => day.runs), format: integer }]} />
      </Card>
    </div>
  );
}

/** The histogram of iterations until the model finished, with its right tail. */
function Iterations({ stats }: { stats: Stats }): JSX.Element {
  const counts = Object.entries(stats.iterations_to_end_turn).map(([iterations, runs]) => [Number(iterations), runs] as const).sort((a, b) => a[0] - b[0]);
  const total = counts.reduce((sum, [, runs]) => sum + runs, 0);
  const most = Math.max(1, ...counts.map(([, runs]) => runs));
  let seen = 0;
  const tailFrom = counts.find(([, runs]) => (seen += runs) >= total * 0.95)?.[0] ?? 0;
  return (
    <Card title="Iterations until the model finished" note={total > 0 ? `95 % of runs need at most ${tailFrom}` : undefined}>
      {counts.length === 0 ? <Empty title="No run has finished yet" /> : (
        <div class="columns" role="img" aria-label={counts.map(([iterations, runs]) => `${iterations} iterations: ${runs} runs`).join(", ")}>
          {counts.map(([iterations, runs]) => (
            <div class="column" title={`${plural(iterations, "iteration")}: ${plural(runs, "run")}`}><div class={`fill ${iterations > tailFrom ? "tail" : ""}`} style={{ height: `${(runs / most) * 78}%` }} />{iterations}</div>
          ))}
        </div>
      )}
    </Card>
  );
}

function Tools({ stats }: { stats: Stats }): JSX.Element {
  return (
    <section class="card scroll-x">
      <header><h2>Tools</h2><span class="note">calls, retries and failures</span></header>
      {stats.tools.length === 0 ? <Empty title="No tool was called yet" /> : (
        <table>
          <thead><tr><th>Tool</th><th class="number">Calls</th><th class="number">Retried</th><th class="number">Failed</th></tr></thead>
          <tbody>{stats.tools.map((tool) => <tr><td>{tool.tool}</td><td class="number">{integer(tool.calls)}</td><td class="number">{integer(tool.retried)}</td><td class="number">{integer(tool.failed)} <span class="muted small">{percent(tool.calls > 0 ? tool.failed / tool.calls : 0, 0)}</span></td></tr>)}</tbody>
        </table>
      )}
    </section>
  );
}

function Agents({ stats, chosen, onChoose }: { stats: Stats; chosen: string; onChoose: (agent: string) => void }): JSX.Element {
  return (
    <section class="card scroll-x">
      <header><h2>Agents</h2><span class="note">escalations stand out</span>{chosen ? <button type="button" class="button small" onClick={() => onChoose("")}>{chosen} ✕</button> : null}</header>
      {stats.agents.length === 0 ? <Empty title="No agent has run yet" /> : (
        <table>
          <thead><tr><th>Agent</th><th>Profile</th><th class="number">Runs</th><th>Escalations</th></tr></thead>
          <tbody>{stats.agents.map((agent) => (
            <tr>
              <td><button type="button" class="button small quiet" onClick={() => onChoose(agent.agent)}>{agent.agent}</button></td><td>{agent.profile}</td><td class="number">{integer(agent.runs)}</td>
              <td>{Object.entries(agent.escalations).map(([name, count]) => <span class={`badge ${count / Math.max(1, agent.runs) > 0.2 ? "bad" : "warn"}`} style={{ marginRight: "4px" }}>{words(name.replace(/^agent(_run)?\./, ""))} {count}</span>)}</td>
            </tr>
          ))}</tbody>
        </table>
      )}
    </section>
  );
}
