// The waterfall of a run: what took how long, and what ran at the same time.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Timeline, TimelineSpan } from "../api/types";
import { now } from "../state/live";
import { callTitle } from "./conversation";
import { clock, duration, tokens } from "./format";
import { Empty, words } from "./parts";

/** Lines that are drawn; more are offered by a button. */
const FIRST_LINES = 200;
const TICKS = 5;

const KIND_NAMES: Record<string, string> = {
  model_call: "Model", retry_wait: "Wait before retry", tool_call: "Tool", child_run: "Sub-agent",
  question: "Question", review: "Hook or review", compaction: "Compaction", takeover: "Resumed by another process",
};

const LEGEND: readonly (readonly [string, string])[] = [
  ["--span-model", "model"], ["--span-tool", "tool, sub-agent"], ["--span-wait", "waits for a person"],
  ["--span-retry", "waits for the provider"], ["--span-review", "hook, review"], ["--span-bad", "failed, denied, cut"],
];

export function spanTitle(span: TimelineSpan): string {
  if (span.kind === "tool_call") return span.name;
  if (span.kind === "model_call") return `Model ${span.iteration}`;
  return KIND_NAMES[span.kind] ?? span.kind;
}

/** What a call does, if its input is whole; else what is there of it. */
function callLine(span: TimelineSpan): string {
  try {
    return callTitle(span.name, JSON.parse(span.detail ?? "null"));
  } catch {
    return span.detail ?? "";
  }
}

export function Waterfall({ timeline, onEntry }: { timeline: Timeline; onEntry?: (entry: number) => void }): JSX.Element {
  const chosen = useSignal<string | null>(null);
  const isWhole = useSignal(false);
  if (timeline.spans.length === 0) return <Empty title="Nothing has happened yet">The first model call appears here.</Empty>;
  const start = timeline.started_at_ms;
  const end = Math.max(timeline.ended_at_ms ?? now.value, start + 1, ...timeline.spans.map((span) => span.ended_at_ms ?? start));
  const place = (at: number): number => Math.min(100, ((at - start) / (end - start)) * 100);
  const shown = isWhole.value ? timeline.spans : timeline.spans.slice(0, FIRST_LINES);
  return (
    <div class="waterfall">
      <div class="axis" aria-hidden="true">
        {Array.from({ length: TICKS }, (_, tick) => (tick * 100) / TICKS).map((at) => (
          <span style={{ left: `${at}%`, transform: at === 0 ? "none" : undefined }}>{duration(((end - start) * at) / 100)}</span>
        ))}
      </div>
      {shown.map((span) => {
        const left = place(span.started_at_ms);
        const width = place(span.ended_at_ms ?? end) - left;
        const took = duration((span.ended_at_ms ?? end) - span.started_at_ms);
        const isOpen = chosen.value === span.id;
        return (
          <div key={span.id}>
            <button type="button" class="line" aria-expanded={isOpen} onClick={() => { chosen.value = isOpen ? null : span.id; }}>
              <span class="clip" title={span.detail ?? ""}>{spanTitle(span)} <span class="muted">{span.kind === "tool_call" ? callLine(span) : null}</span></span>
              <span class="lane">
                <span class={`span ${span.kind} ${span.status}`} style={{ left: `${left}%`, width: `${width}%` }} />
                <span class="length" style={left + width > 85 ? { right: `${100 - left}%` } : { left: `${left + width}%` }}>{took}</span>
              </span>
            </button>
            {isOpen ? <SpanDetail span={span} took={took} {...(onEntry ? { onEntry } : {})} /> : null}
          </div>
        );
      })}
      {shown.length < timeline.spans.length ? (
        <button type="button" class="button small" onClick={() => { isWhole.value = true; }}>Show all {timeline.spans.length}</button>
      ) : null}
      {timeline.omitted_spans > 0 ? <p class="muted small">{timeline.omitted_spans} more are left out.</p> : null}
      <p class="legend" aria-hidden="true">{LEGEND.map(([variable, name]) => <span><i style={{ background: `var(${variable})` }} />{name}</span>)}</p>
    </div>
  );
}

function SpanDetail({ span, took, onEntry }: { span: TimelineSpan; took: string; onEntry?: (entry: number) => void }): JSX.Element {
  return (
    <div class="detail">
      <dl class="facts">
        <dt>What</dt><dd>{KIND_NAMES[span.kind] ?? span.kind}: {words(span.name)}</dd>
        <dt>When</dt><dd>{clock(span.started_at_ms)}, {took}, iteration {span.iteration}</dd>
        <dt>Outcome</dt><dd>{words(span.status)}</dd>
        {span.detail ? <><dt>Detail</dt><dd class="mono">{span.detail}</dd></> : null}
        {span.tokens ? <><dt>Tokens</dt><dd>{tokens(span.tokens.input)} in, {tokens(span.tokens.output)} out, {tokens(span.tokens.cache_read)} read from cache, {tokens(span.tokens.cache_write)} written to it</dd></> : null}
        <dt>Entries</dt><dd>{onEntry ? <button type="button" class="button small" onClick={() => onEntry(span.first_entry)}>{span.first_entry}{span.last_entry ? ` to ${span.last_entry}` : ""}</button> : span.first_entry}</dd>
      </dl>
    </div>
  );
}
