// The requests of the dashboard, one function each.
import { get, send } from "./client";
import type {
  Delivery, EventRow, Explanation, ExplanationReport, IterationRow, Page, PendingQuestion, PlacedMessage, RunSummary, Stats, Timeline, Schedule, TokenInfo, Webhook, WorkerRow,
} from "./types";

type Stop = AbortSignal | null;

export interface RunFilter {
  state?: string | null;
  agent?: string | null;
  profile?: string | null;
  model?: string | null;
  tag?: string | null;
  text?: string | null;
  conversation_id?: string | null;
  since_ms?: number | null;
}

export interface NewPrompt {
  prompt: string;
  files?: string[];
  delivery?: "queue" | "steer";
  options?: { model?: string; profile?: string };
}

export interface AcceptedPrompt {
  conversation_id: string;
  run_id: string;
}

const run = (id: string, rest = ""): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;
const conversation = (id: string, rest = ""): string => `/v1/conversations/${encodeURIComponent(id)}${rest}`;

export const listRuns = (filter: RunFilter, cursor: string | null, limit: number, stop: Stop = null): Promise<Page<RunSummary>> =>
  get("/v1/runs", { ...filter, cursor, limit }, stop);
export const getRun = (id: string, stop: Stop): Promise<RunSummary> => get(run(id), {}, stop);
export const getTrace = (id: string, stop: Stop): Promise<Page<IterationRow>> => get(run(id, "/trace"), {}, stop);
export const getTimeline = (id: string, stop: Stop): Promise<Timeline> => get(run(id, "/timeline"), {}, stop);
export const getExplanation = async (id: string, stop: Stop): Promise<Explanation> => {
  const { facts, ...told } = await get<ExplanationReport>(run(id, "/explain"), {}, stop);
  return { ...told, ...facts };
};
export const getRunEvents = (id: string, stop: Stop): Promise<Page<EventRow>> => get(run(id, "/events"), {}, stop);
export const getEntries = (id: string, after: number, limit: number, stop: Stop): Promise<Page<unknown>> =>
  get(run(id, "/entries"), { cursor: after, limit }, stop);
export const cancelRun = (id: string): Promise<unknown> => send("POST", run(id, "/cancel"));
export const resumeRun = (id: string): Promise<unknown> => send("POST", run(id, "/resume"));
export const forkRun = (id: string, prompt: string | null, atEntry: number | null = null): Promise<{ conversation_id: string; run_id?: string | null }> =>
  send("POST", run(id, "/fork"), { ...(prompt === null ? {} : { prompt }), ...(atEntry === null ? {} : { at_entry: atEntry }) });
export const getRawResponses = (id: string, stop: Stop): Promise<Page<Record<string, unknown>>> => get(run(id, "/raw"), {}, stop);

export const listMessages = (id: string, cursor: string | null, stop: Stop): Promise<Page<PlacedMessage>> =>
  get(conversation(id, "/messages"), { cursor, limit: 500 }, stop);
export const startConversation = (prompt: NewPrompt): Promise<AcceptedPrompt> => send("POST", "/v1/conversations", prompt);
export const sendPrompt = (id: string, prompt: NewPrompt): Promise<AcceptedPrompt> => send("POST", conversation(id, "/prompts"), prompt);

export const listQuestions = (stop: Stop): Promise<Page<PendingQuestion>> => get("/v1/questions", {}, stop);
export const answerQuestion = (question: PendingQuestion, answer: Record<string, unknown>): Promise<unknown> =>
  send("POST", `/v1/questions/${encodeURIComponent(question.run_id)}/${question.question_id}/answer`, { ...answer, input_hash: question.input_hash });

export const listEvents = (filter: { name?: string | null; text?: string | null }, cursor: string | null, limit: number, stop: Stop): Promise<Page<EventRow>> =>
  get("/v1/events", { ...filter, cursor, limit }, stop);
export const listWorkers = (stop: Stop): Promise<Page<WorkerRow>> => get("/v1/workers", {}, stop);
export const getStats = (filter: { agent?: string | null; profile?: string | null; model?: string | null; days?: number }, stop: Stop): Promise<Stats> =>
  get("/v1/stats", filter, stop);

export const listTokens = (stop: Stop): Promise<Page<TokenInfo>> => get("/v1/tokens", {}, stop);
export const createToken = (token: { name: string; scopes: string[]; expires_at?: string }): Promise<{ token: string }> => send("POST", "/v1/tokens", token);
export const revokeToken = (id: string): Promise<unknown> => send("DELETE", `/v1/tokens/${encodeURIComponent(id)}`);
export const listWebhooks = (stop: Stop): Promise<Page<Webhook>> => get("/v1/webhooks", {}, stop);
export const createWebhook = (webhook: { url: string; events: string[] }): Promise<{ secret: string }> => send("POST", "/v1/webhooks", webhook);
export const deleteWebhook = (id: string): Promise<unknown> => send("DELETE", `/v1/webhooks/${encodeURIComponent(id)}`);
export const listDeliveries = (id: string, stop: Stop): Promise<Page<Delivery>> => get(`/v1/webhooks/${encodeURIComponent(id)}/deliveries`, {}, stop);
export const listSchedules = (stop: Stop): Promise<Page<Schedule>> => get("/v1/schedules", {}, stop);
export const createSchedule = (schedule: { name: string; cron: string; prompt: string; time_zone: string }): Promise<unknown> => send("POST", "/v1/schedules", schedule);
export const deleteSchedule = (id: string): Promise<unknown> => send("DELETE", `/v1/schedules/${encodeURIComponent(id)}`);
export const uploadFile = (file: { name: string; media_type: string; data: string }): Promise<{ file_id: string }> => send("POST", "/v1/files", file);
