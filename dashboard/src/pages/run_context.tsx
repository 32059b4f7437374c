// What fills the context of a run, how its model calls used the prompt cache, and what they cost.
import type { JSX } from "preact";
import type { Explanation, ModelCallUse } from "../api/types";
import { link } from "../state/router";
import { Chart } from "../view/chart";
import { clock, micros, percent, tokens } from "../view/format";
import { Card, Empty, Loaded, words } from "../view/parts";
import type { TabProps } from "./run";

const sent = (call: ModelCallUse): number => call.input_tokens + call.cache_read_tokens + call.cache_write_tokens;

const BREAKS: Record<string, string> = {
  model_switch: "another model was called", system_prompt: "the system prompt changed", changed_tools: "the offered tools changed",
  compaction: "the context was compacted", history: "the messages were replaced", expiry: "the pause was longer than the cache is kept",
  provider: "the provider dropped it; nothing changed on this side",
};

export function ContextTab({ run, explanation }: TabProps): JSX.Element {
  return (
    <Loaded resource={explanation}>{(found) => (
      <div class="stack">
        {found.model_calls.length > 0 ? <CallCharts calls={found.model_calls} /> : null}
        <Pieces context={found.context} />
        <Calls id={run.run_id} calls={found.model_calls} />
      </div>
    )}</Loaded>
  );
}

function CallCharts({ calls }: { calls: readonly ModelCallUse[] }): JSX.Element {
  const labels = calls.map((call) => String(call.model_call));
  const marks = calls.flatMap((call, at) => (call.cache_miss ? [{ at, text: `Cache missed: ${BREAKS[call.cache_miss.cause] ?? words(call.cache_miss.cause)}` }] : []));
  return (
    <div class="grid two">
      <Card title="Context" note="tokens sent with each model call">
        <Chart kind="lines" labels={labels} label="Tokens sent with each model call" format={tokens} series={[{ label: "Sent", color: "--span-model", values: calls.map(sent) }]} />
      </Card>
      <Card title="Prompt cache" note={marks.length > 0 ? `missed ${marks.length} times: dashed lines` : "input of each call"}>
        <Chart kind="columns" labels={labels} label="Input tokens of each model call" format={tokens} marks={marks} series={[
          { label: "From the cache", color: "--span-tool", values: calls.map((call) => call.cache_read_tokens) },
          { label: "Written to it", color: "--span-review", values: calls.map((call) => call.cache_write_tokens) },
          { label: "Not cached", color: "--span-retry", values: calls.map((call) => call.input_tokens) },
        ]} />
      </Card>
    </div>
  );
}

function Pieces({ context }: { context: Explanation["context"] }): JSX.Element | null {
  if (context === null) return null;
  const most = Math.max(1, ...context.pieces.map((piece) => piece.tokens));
  return (
    <Card title="What fills the context" note={`${context.percent} % full: about ${tokens(context.tokens)} of ${tokens(context.usable_tokens)} usable tokens`}>
      <div class="bars wide-names">
        {context.pieces.map((piece) => (
          <div class="bar"><span class="clip" title={piece.name}>{piece.name}</span><span class="track"><span class={`fill ${piece.can_be_compacted ? "" : "warn"}`} style={{ width: `${(piece.tokens / most) * 100}%`, display: "block" }} /></span><span class="number">{tokens(piece.tokens)}</span></div>
        ))}
        {context.other_tokens > 0 ? <div class="bar"><span class="muted">everything else</span><span /><span class="number">{tokens(context.other_tokens)}</span></div> : null}
      </div>
      <p class="legend" style={{ marginTop: "10px" }}><span><i style={{ background: "var(--span-model)" }} />can be compacted</span><span><i style={{ background: "var(--span-retry)" }} />cannot</span></p>
    </Card>
  );
}

function Calls({ id, calls }: { id: string; calls: readonly ModelCallUse[] }): JSX.Element {
  return (
    <section class="card">
      <header><h2>Model calls</h2><span class="note">what each used, and what broke the cache when it was missed</span></header>
      {calls.length === 0 ? <Empty title="No model call has brought a reply yet" /> : (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Model calls"><table>
          <thead><tr><th class="number">Call</th><th>Time</th><th>Model</th><th class="number">Input</th><th class="number">Cached</th><th class="number">Output</th><th class="number">Cost</th><th>Cache</th></tr></thead>
          <tbody>{calls.map((call) => (
            <tr>
              <td class="number"><a href={link(["runs", id, "entries"], { entry: String(call.entry) })}>{call.model_call}</a></td><td>{clock(call.at_ms)}</td><td class="name" title={call.model}>{call.model}</td>
              <td class="number">{tokens(sent(call))}</td><td class="number">{percent(sent(call) > 0 ? call.cache_read_tokens / sent(call) : 0, 0)}</td><td class="number">{tokens(call.output_tokens)}</td><td class="number">{micros(call.usd_micros)}</td>
              <td>{call.cache_miss ? <><span class="badge warn">Missed {tokens(call.cache_miss.tokens)}</span> {BREAKS[call.cache_miss.cause] ?? words(call.cache_miss.cause)}{call.cache_miss.extra_usd_micros === null ? "" : `; ${micros(call.cache_miss.extra_usd_micros)} more`}</> : <span class="muted">–</span>}</td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
    </section>
  );
}
