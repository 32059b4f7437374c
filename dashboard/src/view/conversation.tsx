// The messages of a conversation: prompts, replies with their calls, results, and what else was said.
import { useSignal } from "@preact/signals";
import type { ComponentChild, JSX } from "preact";
import type { ContentBlock, SdkMessage } from "../api/types";
import { Markdown } from "./markdown";
import { Fold, words } from "./parts";

/** Characters of a text that are shown at once; the rest on request. */
const FIRST_CHARS = 20_000;

/** Messages that are in the document at first; earlier ones on request. */
const SHOWN_MESSAGES = 300;

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  readonly detail: unknown;
}

/** The results of calls by the id of the call, so that each stands below its call. */
export function collectResults(messages: readonly SdkMessage[]): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (const message of messages) {
    for (const block of blocksOf(message)) {
      if (block.type === "tool_result") results.set(block.tool_use_id, { text: plainText(block.content), isError: block.is_error ?? false, detail: message.tool_use_result });
    }
  }
  return results;
}

export function blocksOf(message: SdkMessage): ContentBlock[] {
  const content = message.message?.content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content ?? [];
}

function plainText(content: string | ContentBlock[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

export function Conversation({ messages, live }: { messages: readonly SdkMessage[]; live?: string }): JSX.Element {
  const results = collectResults(messages);
  const limit = useSignal(SHOWN_MESSAGES);
  const all = messages.filter(hasContent);
  const shown = all.slice(-limit.value);
  return (
    <div>
      {shown.length < all.length ? <button type="button" class="button small" onClick={() => { limit.value += SHOWN_MESSAGES; }}>Show earlier messages ({all.length - shown.length})</button> : null}
      {shown.map((message, index) => (
        <MessageView key={message.uuid ?? index} message={message} results={results} goesOn={isSameTurn(shown[index - 1], message)} isContinued={isSameTurn(message, shown[index + 1])} />
      ))}
      {live ? <div class="message assistant"><div class="who">Agent <span class="badge busy">writing</span></div><div class="content"><Markdown text={live} /></div></div> : null}
    </div>
  );
}

function hasContent(message: SdkMessage): boolean {
  if (message.type !== "assistant" && message.type !== "user") return true;
  return blocksOf(message).some((block) => block.type !== "tool_result");
}

/** Blocks of one reply, and of replies with nothing but results between them, stand together. */
function isSameTurn(first: SdkMessage | undefined, second: SdkMessage | undefined): boolean {
  return first?.type === "assistant" && second?.type === "assistant" && first.parent_tool_use_id === second.parent_tool_use_id;
}

function MessageView({ message, results, goesOn, isContinued }: {
  message: SdkMessage; results: Map<string, ToolResult>; goesOn: boolean; isContinued: boolean;
}): JSX.Element | null {
  if (message.type === "assistant" || message.type === "user") {
    const shown = blocksOf(message).filter((block) => block.type !== "tool_result");
    if (shown.length === 0) return null;
    const isNote = message.type === "user" && message["isSynthetic"] === true;
    const who = isNote ? "Windlass" : message.type === "user" ? "You" : "Agent";
    return (
      <div class={`message ${isNote ? "note" : message.type} ${goesOn ? "goes-on" : ""} ${isContinued ? "continued" : ""}`}>
        {goesOn ? null : <div class="who">{message.parent_tool_use_id ? `Sub-agent` : who}{message.message?.model ? <span class="muted">{message.message.model}</span> : null}</div>}
        <div class="content stack">{shown.map((block) => blockView(block, results))}</div>
      </div>
    );
  }
  if (message.type === "system") return systemView(message);
  if (message.type === "result" && message.is_error) {
    return <div class="problem">{(message.errors ?? [message.result ?? "the run failed"]).join("; ")}</div>;
  }
  return null;
}

function blockView(block: ContentBlock, results: Map<string, ToolResult>): ComponentChild {
  switch (block.type) {
    case "text":
      return <LongText text={block.text} />;
    case "thinking":
      return <Fold summary={<span class="muted">Thinking</span>}>{() => <div class="wrap muted">{block.thinking}</div>}</Fold>;
    case "tool_use":
      return <ToolCall call={block} result={results.get(block.id) ?? null} />;
    case "tool_result":
      return null;
    default:
      return <span class="badge plain">{words(block.type)}</span>;
  }
}

function LongText({ text }: { text: string }): JSX.Element {
  if (text.length <= FIRST_CHARS) return <Markdown text={text} />;
  return (
    <>
      <Markdown text={text.slice(0, FIRST_CHARS)} />
      <Fold summary={`${text.length - FIRST_CHARS} more characters`}>{() => <pre class="code wrapped">{text.slice(FIRST_CHARS)}</pre>}</Fold>
    </>
  );
}

/** The line that says what a call does. */
export function callTitle(name: string, input: unknown): string {
  const fields = (input ?? {}) as Record<string, unknown>;
  const main = fields.command ?? fields.file_path ?? fields.pattern ?? fields.url ?? fields.query ?? fields.description ?? fields.prompt;
  return typeof main === "string" ? main : name === "TodoWrite" ? "the task list" : JSON.stringify(input ?? {});
}

function ToolCall({ call, result }: { call: ContentBlock & { type: "tool_use" }; result: ToolResult | null }): JSX.Element {
  const tone = result === null ? "busy" : result.isError ? "bad" : "ok";
  return (
    <Fold summary={<><span class={`badge ${tone}`}>{call.name}</span><span class="mono clip">{callTitle(call.name, call.input)}</span></>}>
      {() => (
        <>
          <CallInput name={call.name} input={call.input} />
          {result ? <CallResult result={result} /> : <span class="muted">No result yet.</span>}
        </>
      )}
    </Fold>
  );
}

/** The whole input of a call, exactly as it runs. */
export function CallInput({ name, input }: { name: string; input: unknown }): JSX.Element {
  const fields = (input ?? {}) as Record<string, unknown>;
  if (typeof fields.command === "string") {
    const { command, ...rest } = fields;
    return <><pre class="code wrapped">{visible(command as string)}</pre>{Object.keys(rest).length > 0 ? <pre class="code wrapped">{JSON.stringify(rest, null, 2)}</pre> : null}</>;
  }
  if (typeof fields.old_string === "string" && typeof fields.new_string === "string") {
    return <><div class="mono small">{String(fields.file_path)}</div><Diff lines={[...mark("-", fields.old_string), ...mark("+", fields.new_string)]} /></>;
  }
  if (name === "Write" && typeof fields.content === "string") {
    return <><div class="mono small">{String(fields.file_path)}</div><Diff lines={mark("+", fields.content)} /></>;
  }
  return <pre class="code wrapped">{visible(JSON.stringify(input, null, 2) ?? "")}</pre>;
}

/** Makes control and invisible characters visible. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

function mark(sign: string, text: string): string[] {
  return text.split("\n").map((line) => sign + line);
}

interface Patch { oldStart: number; newStart: number; lines: string[] }

function CallResult({ result }: { result: ToolResult }): JSX.Element {
  const patch = (result.detail as { structuredPatch?: Patch[] } | null)?.structuredPatch;
  if (Array.isArray(patch) && patch.length > 0) {
    return <Diff lines={patch.flatMap((hunk) => [`@@ ${hunk.oldStart} → ${hunk.newStart}`, ...hunk.lines])} />;
  }
  const failure = result.isError ? errorOf(result.text) : null;
  if (failure) {
    return (
      <>
        <p class="bad-text wrap">{visible(failure.message)}</p>
        {failure.output && failure.output !== "(no output)" ? <pre class="code wrapped">{visible(failure.output)}</pre> : null}
        {failure.hint ? <p class="small muted wrap">{visible(failure.hint)}</p> : null}
      </>
    );
  }
  return <pre class="code wrapped">{visible(result.text)}</pre>;
}

/** The parts of an error, if the result is one of ours. */
function errorOf(text: string): { message: string; hint?: string; output?: string } | null {
  try {
    const found = JSON.parse(text) as { error?: boolean; message?: unknown; hint?: string; output?: string };
    return found.error === true && typeof found.message === "string" ? { message: found.message, ...(found.hint ? { hint: found.hint } : {}), ...(found.output ? { output: found.output } : {}) } : null;
  } catch {
    return null;
  }
}

export function Diff({ lines }: { lines: readonly string[] }): JSX.Element {
  const tone = (line: string): string => (line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : line.startsWith("@@") ? "at" : "");
  return <div class="diff">{lines.slice(0, 2_000).map((line) => <div class={tone(line)}>{visible(line)}</div>)}{lines.length > 2_000 ? <div class="at">{lines.length - 2_000} more lines</div> : null}</div>;
}

function systemView(message: SdkMessage): JSX.Element | null {
  switch (message.subtype) {
    case "compact_boundary":
      return <div class="message"><span class="badge plain">The context was compacted here</span></div>;
    case "api_retry":
      return <div class="message"><span class="badge warn">Model call failed; attempt {String(message.attempt)}</span></div>;
    case "permission_denied":
      return <div class="message"><span class="badge bad">Denied</span> <span>{String(message.message ?? "")}</span></div>;
    case "informational":
      return <div class="message muted">{String(message.content ?? "")}</div>;
    default:
      return null;
  }
}
