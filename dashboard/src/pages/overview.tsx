// The first page: what needs a person, what runs, how runs end, and what they cost.
import type { JSX } from "preact";
import { getStats, listRuns } from "../api/calls";
import type { Stats, UsageCounts } from "../api/types";
import { revision, slowRevision } from "../state/live";
import { useResource } from "../state/resource";
import { link, route, setQuery } from "../state/router";
import { Chart } from "../view/chart";
import { day as dayName, dollars, duration, integer, percent, plural, tokens } from "../view/format";
import { Card, Empty, Loaded, words } from "../view/parts";
import { RunRow } from "./runs";

const DAYS = 30;
/** The share of runs that may end on an unexpected stop reason. */
const UNEXPECTED_TARGET = 0.003;
/** Escalations per run from which an agent stands out, as `windlass stats` has it. */
const MANY_ESCALATIONS = 0.5;
const EXPECTED_ENDS = new Set(["end_turn", "stop_sequence", "soft_time"]);
const LIMIT_ENDS = new Set(["max_iters", "max_model_calls", "max_model_replies", "budget_usd", "budget_tokens", "hard_time", "user_cancel"]);

export function OverviewPage(): JSX.Element {
  const read = (name: string): string | null => route.value.query.get(name) || null;
  const [agent, profile, model] = [read("agent"), read("profile"), read("model")];
  const stats = useResource((stop) => getStats({ days: DAYS, agent, profile, model }, stop), [agent, profile, model, slowRevision.value]);
  const choices = stats.data.value?.choices;
  return (
    <>
      <div class="page-head">
        <h1>Overview</h1><span class="muted">the last {DAYS} days</span>
        <div class="actions">
          <Choice name="agent" label="Agent" all="All agents" chosen={agent} options={choices?.agents ?? []} />
          <Choice name="profile" label="Profile" all="All profiles" chosen={profile} options={choices?.profiles ?? []} />
          <Choice name="model" label="Model" all="All models" chosen={model} options={choices?.models ?? []} />
        </div>
      </div>
      <Loaded resource={stats}>{(found) => (
        <div class="stack">
          <Tiles stats={found} />
          <div class="grid two"><Attention /><Endings stats={found} /></div>
          <Days stats={found} />
          <div class="grid two"><Iterations stats={found} /><Models stats={found} /><Agents stats={found} /><Tools stats={found} /></div>
        </div>
      )}</Loaded>
    </>
  );
}

function Choice({ name, label, all, chosen, options }: { name: string; label: string; all: string; chosen: string | null; options: readonly string[] }): JSX.Element | null {
  const named = options.filter(Boolean);
  if (named.length === 0 && !chosen) return null;
  return (
    <select class="field" aria-label={label} value={chosen ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {named.map((option) => <option value={option}>{option}</option>)}
    </select>
  );
}

function Tiles({ stats }: { stats: Stats }): JSX.Element {
  const count = (state: string): number => stats.states[state] ?? 0;
  const share = stats.runs > 0 ? stats.unexpected / stats.runs : 0;
  const [waiting, failed] = [count("waiting_on_human"), count("failed")];
  const tiles: readonly { label: string; value: string; to?: string; tone?: string }[] = [
    { label: "running", value: integer(count("running")), to: link(["runs"], { state: "running" }) },
    { label: waiting === 1 ? "waits for a person" : "wait for a person", value: integer(waiting), to: link(["inbox"]), tone: waiting > 0 ? "attention" : "" },
    { label: "failed", value: integer(failed), to: link(["runs"], { state: "failed" }), tone: failed > 0 ? "bad" : "" },
    { label: "can be resumed", value: integer(stats.resumable), to: link(["runs"], { state: "failed,timed_out" }) },
    { label: "stopped at the cap", value: stats.runs > 0 ? percent(stats.stopped_at_cap / stats.runs) : "–" },
    { label: `unexpected, target ${percent(UNEXPECTED_TARGET)}`, value: stats.runs > 0 ? percent(share, 2) : "–", tone: share > UNEXPECTED_TARGET ? "bad" : "" },
  ];
  return (
    <div class="tiles">{tiles.map((tile) => {
      const inside = <><span class="value">{tile.value}</span>{" "}<span class="label">{tile.label}</span></>;
      return tile.to ? <a class={`tile ${tile.tone ?? ""}`} href={tile.to}>{inside}</a> : <div class={`tile ${tile.tone ?? ""}`}>{inside}</div>;
    })}</div>
  );
}

/** What somebody should look at, newest first. */
function Attention(): JSX.Element {
  const runs = useResource((stop) => listRuns({ state: "waiting_on_human,waiting_on_provider,failed,timed_out" }, null, 6, stop), [revision.value]);
  return (
    <section class="card">
      <header><h2>Needs attention</h2><span class="note"><a href={link(["runs"], { state: "waiting_on_human,waiting_on_provider,failed,timed_out" })}>all of them</a></span></header>
      <Loaded resource={runs}>{(found) => found.data.length === 0
        ? <Empty title="Nothing needs attention">Runs that fail, wait or were interrupted appear here.</Empty>
        : <div>{found.data.map((run) => <RunRow key={run.run_id} run={run} isNarrow />)}</div>}</Loaded>
    </section>
  );
}

function Endings({ stats }: { stats: Stats }): JSX.Element {
  const reasons = Object.entries(stats.reasons).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...reasons.map(([, count]) => count));
  const tone = (reason: string): string => (EXPECTED_ENDS.has(reason) ? "" : LIMIT_ENDS.has(reason) ? "warn" : "bad");
  const share = stats.runs > 0 ? stats.unexpected / stats.runs : 0;
  return (
    <Card title="How runs end" note={<>{plural(stats.runs, "run")}; {stats.unexpected_within_target
      ? <span class="badge ok plain">unexpected {percent(share, 2)}, within {percent(UNEXPECTED_TARGET)}</span>
      : <span class="badge bad plain">unexpected {percent(share, 2)}, above {percent(UNEXPECTED_TARGET)}</span>}</>}>
      {reasons.length === 0 ? <Empty title="No run has ended yet">Start one on the <a href={link(["chat"])}>Chat</a> page.</Empty> : (
        <div class="bars">{reasons.map(([reason, count]) => (
          <div class="bar"><span class="clip" title={reason}>{words(reason)}</span><span class="track"><span class={`fill ${tone(reason)}`} style={{ width: `${(count / most) * 100}%`, display: "block" }} /></span><span class="number">{integer(count)}</span></div>
        ))}</div>
      )}
    </Card>
  );
}

/** One place per day, days without runs included. */
function lastDays(days: Stats["days"]): (UsageCounts | null)[] {
  const byDay = new Map(days.map((counts) => [counts.day, counts]));
  return dayKeys().map((key) => byDay.get(key) ?? null);
}

function dayKeys(): string[] {
  const today = Date.now();
  return Array.from({ length: DAYS }, (_, at) => new Date(today - (DAYS - 1 - at) * 86_400_000).toISOString().slice(0, 10));
}

function Days({ stats }: { stats: Stats }): JSX.Element | null {
  if (stats.days.length === 0) return null;
  const days = lastDays(stats.days);
  const labels = dayKeys().map(dayName);
  const values = (read: (counts: UsageCounts) => number | null): (number | null)[] => days.map((counts) => (counts === null ? null : read(counts)));
  const share = (part: (counts: UsageCounts) => number): (number | null)[] => values((counts) => (counts.runs > 0 ? part(counts) / counts.runs : null));
  return (
    <div class="grid two">
      <Card title="Stopped at the cap" note="share of the finished runs of each day">
        <Chart kind="columns" labels={labels} label="Share of runs that stopped at the cap, per day" format={(value) => percent(value, 0)} least={0.1}
          series={[{ label: "At the cap", color: "--span-retry", values: share((counts) => counts.stopped_at_cap) }]} />
      </Card>
      <Card title="Runs" note="finished per day">
        <Chart kind="columns" labels={labels} label="Runs per day" format={integer} series={[
          { label: "Others", color: "--span-model", values: values((counts) => Math.max(0, counts.runs - counts.failed)) },
          { label: "Failed", color: "--span-bad", values: values((counts) => counts.failed) },
        ]} />
      </Card>
      <Card title="Cost" note="US dollars per day; models without a known price are not in it">
        <Chart kind="columns" labels={labels} label="Cost per day" format={dollars} series={[{ label: "Cost", color: "--span-model", values: values((counts) => (counts.cost_usd_micros ?? 0) / 1_000_000) }]} />
      </Card>
      <Card title="Tokens" note="of the finished runs of each day">
        <Chart kind="columns" labels={labels} label="Tokens per day" format={tokens} series={[
          { label: "From the cache", color: "--span-tool", values: values((counts) => counts.cached_tokens) },
          { label: "Other input", color: "--span-model", values: values((counts) => counts.input_tokens - counts.cached_tokens) },
          { label: "Output", color: "--span-retry", values: values((counts) => counts.output_tokens) },
        ]} />
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
  const longest = counts.at(-1)?.[0] ?? 0;
  return (
    <Card title="Iterations until the model finished" note={total > 0 ? `95 % of runs need at most ${tailFrom}, the longest ${longest}` : undefined}>
      {counts.length === 0 ? <Empty title="No run has finished yet" /> : (
        <>
          <div class="columns" role="img" aria-label={`Iterations until the model finished. ${counts.map(([iterations, runs]) => `${plural(iterations, "iteration")}: ${plural(runs, "run")}`).join(", ")}`}>
            {counts.map(([iterations, runs]) => (
              <div class="column" title={`${plural(iterations, "iteration")}: ${plural(runs, "run")}`}><span>{runs}</span><div class={`fill ${iterations > tailFrom ? "tail" : ""}`} style={{ height: `${(runs / most) * 70}%` }} />{iterations}</div>
            ))}
          </div>
          <p class="legend"><span><i style={{ background: "var(--span-model)" }} />95 % of the runs</span><span><i style={{ background: "var(--span-retry)" }} />the right tail</span></p>
        </>
      )}
    </Card>
  );
}

function Models({ stats }: { stats: Stats }): JSX.Element {
  const errors = Object.entries(stats.errors);
  return (
    <section class="card">
      <header><h2>Models</h2><span class="note">latency of the newest 50 runs</span></header>
      {stats.models.length === 0 ? <Empty title="No model was called yet" /> : (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Models"><table>
          <thead><tr><th>Model</th><th class="number">Runs</th><th class="number">Failed</th><th class="number">Median</th><th class="number">95 %</th><th class="number">Tokens</th><th class="number">Cost</th></tr></thead>
          <tbody>{stats.models.map((model) => (
            <tr><td class="name" title={model.model}>{model.model || "unknown"}</td><td class="number">{integer(model.runs)}</td><td class="number">{integer(model.failed)}</td>
              <td class="number">{model.latency?.median_ms == null ? "–" : duration(model.latency.median_ms)}</td><td class="number">{model.latency?.p95_ms == null ? "–" : duration(model.latency.p95_ms)}</td>
              <td class="number">{tokens(model.input_tokens + model.output_tokens)}</td><td class="number">{dollars(model.cost_usd_micros === null ? null : model.cost_usd_micros / 1_000_000)}</td></tr>
          ))}</tbody>
        </table></div>
      )}
      {errors.length > 0 ? <div class="body row small"><span class="muted">Errors and retries:</span>{errors.map(([name, count]) => <a class="badge warn plain" href={link(["logs"], { name })}>{words(name.replace(/^agent\.(model|reply)\./, ""))} {integer(count)}</a>)}</div> : null}
    </section>
  );
}

function Tools({ stats }: { stats: Stats }): JSX.Element {
  return (
    <section class="card">
      <header><h2>Tools</h2><span class="note">calls, retries and failures</span></header>
      {stats.tools.length === 0 ? <Empty title="No tool was called yet" /> : (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Tools"><table>
          <thead><tr><th>Tool</th><th class="number">Calls</th><th class="number">Retries</th><th class="number">Failed</th></tr></thead>
          <tbody>{stats.tools.map((tool) => <tr><td class="name" title={tool.tool}>{tool.tool}</td><td class="number">{integer(tool.calls)}</td><td class="number">{integer(tool.attempts - tool.calls)}</td><td class="number">{integer(tool.failed)} <span class="muted small">{percent(tool.calls > 0 ? tool.failed / tool.calls : 0, 0)}</span></td></tr>)}</tbody>
        </table></div>
      )}
    </section>
  );
}

function Agents({ stats }: { stats: Stats }): JSX.Element {
  const escalations = (agent: Stats["agents"][number]): number => Object.values(agent.escalations).reduce((sum, count) => sum + count, 0);
  const agents = [...stats.agents].sort((a, b) => escalations(b) / Math.max(1, b.runs) - escalations(a) / Math.max(1, a.runs));
  return (
    <section class="card">
      <header><h2>Agents</h2><span class="note">those that escalate often stand out</span></header>
      {agents.length === 0 ? <Empty title="No agent has run yet" /> : (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Agents"><table>
          <thead><tr><th>Agent</th><th>Profile</th><th class="number">Runs</th><th class="number">Per run</th><th>Escalations</th></tr></thead>
          <tbody>{agents.map((agent) => {
            const share = escalations(agent) / Math.max(1, agent.runs);
            return (
              <tr class={share > MANY_ESCALATIONS ? "stands-out" : ""}>
                <td class="name"><a href={link([], { agent: agent.agent })}>{agent.agent}</a></td><td>{agent.profile || "–"}</td><td class="number">{integer(agent.runs)}</td>
                <td class="number">{share > 0 ? <span class={`badge plain ${share > MANY_ESCALATIONS ? "bad" : "warn"}`}>{share.toFixed(2)}</span> : "0"}</td>
                <td>{Object.entries(agent.escalations).map(([name, count]) => <a class="badge warn plain gap" href={link(["logs"], { name })}>{words(name.replace(/^agent(_run)?\./, "").replace(/\./g, " "))} {count}</a>)}</td>
              </tr>
            );
          })}</tbody>
        </table></div>
      )}
    </section>
  );
}
