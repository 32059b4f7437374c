// What the API returns, as far as the dashboard reads it. `docs/openapi.json` is the whole of it.

export type RunState = string;

export interface RunSummary {
  run_id: string;
  conversation_id: string;
  state: RunState;
  stop_cause: string | null;
  prompt: string | null;
  answer: string | null;
  agent: string | null;
  profile: string | null;
  model: string | null;
  folder: string | null;
  cost_usd_micros: number | null;
  is_resumable: boolean;
  is_cancel_requested: boolean;
  updated_at: string;
  tags: string[];
}

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

export interface PlacedMessage {
  position: string;
  at: string;
  run_id: string | null;
  message: SdkMessage;
}

export interface ToolCallRow {
  name: string;
  ms: number;
  ok: boolean;
  input_hash: string;
}

export interface IterationRow {
  iter: number;
  at_ms: number;
  model: string;
  input_tokens: number;
  output_tokens: number;
  cache_read: number;
  cache_write: number;
  stop_reason: string | null;
  reply_stop_reason: string | null;
  transition: string;
  tool_calls: ToolCallRow[];
}

export type SpanKind = "model_call" | "retry_wait" | "tool_call" | "child_run" | "question" | "review" | "compaction" | "takeover";
export type SpanStatus = "open" | "ok" | "failed" | "denied" | "unknown" | "interrupted";

export interface TimelineSpan {
  id: string;
  kind: SpanKind;
  name: string;
  iteration: number;
  started_at_ms: number;
  ended_at_ms: number | null;
  status: SpanStatus;
  detail: string | null;
  first_entry: number;
  last_entry: number | null;
  tokens: { input: number; output: number; cache_read: number; cache_write: number } | null;
}

export interface Timeline {
  run: string;
  started_at_ms: number;
  ended_at_ms: number | null;
  cause: string | null;
  spans: TimelineSpan[];
  omitted_spans: number;
}

export interface Sentence {
  text: string;
  entries: number[];
}

export interface Excerpt {
  text: string;
  omitted_chars: number;
}

export interface FailedCall {
  tool: string;
  input: Excerpt;
  problem: "failed" | "invalid" | "timed_out" | "denied" | "interrupted" | "skipped";
  error: Excerpt;
  hint: string | null;
  is_made_good: boolean;
  entries: number[];
}

export interface CacheMiss {
  cause: string;
  tokens: number;
  extra_usd_micros: number | null;
}

export interface ModelCallUse {
  model_call: number;
  at_ms: number;
  model: string;
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  usd_micros: number | null;
  cache_miss: CacheMiss | null;
  entry: number;
}

export interface SubAgent {
  conversation: string;
  task: Excerpt;
  state: "working" | "answered" | "failed";
  result: Excerpt | null;
  cause: string | null;
  entry: number;
}

/** What the log says about a run. */
export interface RunFacts {
  prompt: Excerpt | null;
  answer: Excerpt | null;
  failed_calls: FailedCall[];
  model_calls: ModelCallUse[];
  context: { tokens: number; usable_tokens: number; percent: number; pieces: { name: string; tokens: number; can_be_compacted: boolean }[]; other_tokens: number } | null;
  sub_agents: SubAgent[];
  waiting_prompts: Excerpt[];
}

interface ExplanationText {
  conversation: string;
  run: string;
  state: string;
  cause: string | null;
  headline: string;
  advice: string[];
  is_interrupted: boolean;
  sections: { topic: string; sentences: Sentence[] }[];
}

/** Why a run stopped or what it waits for; the same value as `windlass explain --json`. */
export interface ExplanationReport extends ExplanationText {
  facts: RunFacts;
}

/** The report with its facts beside the text. */
export type Explanation = ExplanationText & RunFacts;

export interface ModelQuestion {
  question: string;
  header?: string;
  multiSelect?: boolean;
  options?: { label: string; description?: string }[];
}

export interface PendingQuestion {
  conversation_id: string;
  run_id: string;
  question_id: number;
  agent: string | null;
  kind: string;
  text: string;
  answers: { answer: string; consequence: string }[];
  options: ModelQuestion[] | null;
  tool_name: string | null;
  input: unknown;
  input_hash: string | null;
  folder: string | null;
  reason: string | null;
  plan: string | null;
  asked_at: string;
  expires_at: string | null;
}

export interface EventRow {
  at_ms: number;
  name: string;
  conversation_id: string;
  run_id: string | null;
  agent: string;
  profile: string;
  entry: number;
  fields: Record<string, unknown>;
}

export interface WorkerRow {
  worker_id: string;
  host: string;
  started_at_ms: number;
  heartbeat_at_ms: number;
  is_live: boolean;
  lanes: number;
  workspaces: string[];
}

export interface UsageCounts {
  runs: number;
  stopped_at_cap: number;
  unexpected: number;
  failed: number;
  cost_usd_micros: number | null;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
}

export interface Stats {
  runs: number;
  stopped_at_cap: number;
  unexpected: number;
  unexpected_within_target: boolean;
  reasons: Record<string, number>;
  iterations_to_end_turn: Record<string, number>;
  agents: { agent: string; profile: string; runs: number; escalations: Record<string, number> }[];
  tools: { tool: string; calls: number; attempts: number; retried: number; failed: number }[];
  states: Record<string, number>;
  resumable: number;
  days: (UsageCounts & { day: string })[];
  models: (UsageCounts & { model: string; latency: { calls: number; failed: number; median_ms: number | null; p95_ms: number | null } | null })[];
  errors: Record<string, number>;
  choices: { agents: string[]; profiles: string[]; models: string[] };
}

export interface TokenInfo {
  token_id: string;
  name: string;
  tenant: string | null;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
}

export interface Webhook {
  webhook_id: string;
  url: string;
  events: string[];
  created_at: string;
}

export interface Delivery {
  delivery_id: string;
  event: string;
  run_id: string;
  status: string;
  attempts: number;
  last_error: string | null;
}

export interface Schedule {
  schedule_id: string;
  name: string;
  cron: string;
  time_zone: string;
  prompt: string;
  is_paused: boolean;
  next_at: string | null;
  last_run_id: string | null;
  last_error: string | null;
}

/** A message as the Agent SDKs have it. */
export interface SdkMessage {
  type: string;
  subtype?: string;
  uuid?: string;
  session_id?: string;
  parent_tool_use_id?: string | null;
  message?: { role?: string; model?: string; content: string | ContentBlock[]; stop_reason?: string | null };
  event?: { type: string; index?: number; delta?: { type: string; text?: string; thinking?: string; partial_json?: string } };
  tool_use_result?: unknown;
  result?: string;
  is_error?: boolean;
  errors?: string[];
  total_cost_usd?: number;
  num_turns?: number;
  duration_ms?: number;
  [field: string]: unknown;
}

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; tool_use_id: string; content: string | ContentBlock[]; is_error?: boolean }
  | { type: "image" | "document" | "redacted_thinking"; [field: string]: unknown };
