// A conversation with an agent, from the browser.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { cancelRun, listRuns, sendPrompt, startConversation, uploadFile } from "../api/calls";
import { Problem } from "../api/client";
import { revision } from "../state/live";
import { useResource } from "../state/resource";
import { link } from "../state/router";
import { useFollowedRun } from "../state/run_stream";
import { Conversation } from "../view/conversation";
import { bytes } from "../view/format";
import { Action, Empty, ProblemBox, StateBadge, say } from "../view/parts";
import { shownState } from "./runs";

export function ChatPage({ conversation }: { conversation: string | null }): JSX.Element {
  const followed = useFollowedRun(conversation);
  const runs = useResource((stop) => (conversation ? listRuns({ conversation_id: conversation }, null, 1, stop) : Promise.resolve({ data: [], next_cursor: null })), [conversation, revision.value]);
  const newest = runs.data.value?.data[0] ?? null;
  const isBusy = newest !== null && newest.stop_cause === null;
  const end = useRef<HTMLDivElement>(null);
  // Follows what is written unless the person has scrolled up to read.
  useEffect(() => {
    const distance = document.documentElement.scrollHeight - innerHeight - scrollY;
    if (distance < 240) end.current?.scrollIntoView({ block: "end" });
  }, [followed.messages.value, followed.liveText.value]);
  return (
    <>
      <div class="page-head">
        <h1>Chat</h1>
        {newest ? <StateBadge state={shownState(newest)} /> : null}
        <div class="actions">
          {newest ? <a class="button" href={link(["runs", newest.run_id])}>Open the run</a> : null}
          {conversation ? <a class="button" href={link(["chat"])}>New conversation</a> : null}
        </div>
      </div>
      {followed.problem.value ? <ProblemBox problem={followed.problem.value} /> : null}
      <div class="card"><div class="body">
        {conversation === null ? <Empty title="Talk to an agent">What you write below starts a conversation. It is durable: close the page and come back, nothing is lost.</Empty>
          : <Conversation messages={followed.messages.value} live={followed.liveText.value} />}
      </div></div>
      <div ref={end} />
      <Composer conversation={conversation} runId={newest?.run_id ?? null} isBusy={isBusy} isWaiting={newest?.state === "waiting_on_human"} />
    </>
  );
}

function Composer({ conversation, runId, isBusy, isWaiting }: { conversation: string | null; runId: string | null; isBusy: boolean; isWaiting: boolean }): JSX.Element {
  const draftKey = `windlass.draft.${conversation ?? "new"}`;
  const text = useSignal(sessionStorage.getItem(draftKey) ?? "");
  const isSending = useSignal(false);
  const files = useSignal<AttachedFile[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const attach = async (chosen: Iterable<File>): Promise<void> => {
    for (const file of chosen) {
      const read = await readFile(file);
      if (typeof read === "string") say(read, true);
      else files.value = [...files.value.filter((other) => other.name !== read.name), read];
    }
  };
  const submit = async (delivery: "queue" | "steer"): Promise<void> => {
    const written = text.value.trim();
    if (!written || isSending.value) return;
    const texts = files.value.filter((file) => file.text !== null).map((file) => `<file name=${JSON.stringify(file.name)}>\n${file.text}\n</file>`);
    const prompt = [written, ...texts].join("\n\n");
    const ids = files.value.flatMap((file) => (file.id === null ? [] : [file.id]));
    const along = ids.length > 0 ? { files: ids } : {};
    isSending.value = true;
    try {
      const accepted = conversation === null ? await startConversation({ prompt, ...along }) : await sendPrompt(conversation, { prompt, delivery, ...along });
      text.value = "";
      files.value = [];
      sessionStorage.removeItem(draftKey);
      if (conversation === null) location.hash = link(["chat", accepted.conversation_id]);
    } catch (error) {
      say(error instanceof Problem ? `${error.title}. ${error.message}` : String(error), true);
    } finally {
      isSending.value = false;
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit(isBusy && !event.altKey ? "steer" : "queue");
  };
  const edit = (value: string): void => { text.value = value; sessionStorage.setItem(draftKey, value); };
  return (
    <form class="composer" onSubmit={(event) => { event.preventDefault(); void submit("queue"); }}
      onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); void attach([...(event.dataTransfer?.files ?? [])]); }}>
      {isWaiting ? <div class="banner">The agent waits for an answer: <a href={link(["inbox"])}>open the inbox</a></div> : null}
      <textarea class="field" rows={3} aria-label="Message" placeholder={isBusy ? "Enter steers the run, Alt-Enter queues a prompt behind it" : "Message; Enter sends it, Shift-Enter is a new line"} value={text.value} onInput={(event) => edit(event.currentTarget.value)} onKeyDown={onKeyDown} />
      {files.value.length > 0 ? (
        <div class="row" aria-label="Attachments">{files.value.map((file) => (
          <button type="button" class="badge plain" title="Take it out" onClick={() => { files.value = files.value.filter((other) => other !== file); }}>{file.name} · {bytes(file.size)} ✕</button>
        ))}</div>
      ) : null}
      <div class="row">
        <input ref={picker} type="file" multiple class="sr-only" tabIndex={-1} aria-label="Files to attach" onChange={(event) => { void attach([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ""; }} />
        <button class="button primary" disabled={!text.value.trim() || isSending.value}>{isBusy ? "Queue" : "Send"}</button>
        {isBusy && conversation ? <button type="button" class="button" disabled={!text.value.trim() || isSending.value} onClick={() => void submit("steer")}>Steer the run</button> : null}
        <button type="button" class="button" onClick={() => picker.current?.click()}>Attach files</button>
        {isBusy && runId ? <Action label="Stop" tone="danger" done="The run stops at the next safe point" run={() => cancelRun(runId)} /> : null}
      </div>
    </form>
  );
}

/** A file of a prompt: its text goes along, or the server has it under an id. */
interface AttachedFile { readonly name: string; readonly size: number; readonly text: string | null; readonly id: string | null }

/** The largest text that goes into a prompt as it is. */
const MAX_TEXT_BYTES = 256 * 1024;
/** What models read besides text. */
const UPLOADED_TYPES = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/;

/** The file for a prompt, or why it cannot be attached. */
async function readFile(file: File): Promise<AttachedFile | string> {
  if (UPLOADED_TYPES.test(file.type)) return upload(file);
  const instead = "put it into the folder of the agent and name it";
  if (file.size > MAX_TEXT_BYTES) return `${file.name} is larger than ${bytes(MAX_TEXT_BYTES)}; ${instead}`;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (!text.includes("\0")) return { name: file.name, size: file.size, text, id: null };
  } catch { /* not UTF-8: said below */ }
  return `${file.name} is neither text nor an image nor a PDF; ${instead}`;
}

async function upload(file: File): Promise<AttachedFile | string> {
  try {
    const made = await uploadFile({ name: file.name, media_type: file.type, data: toBase64(new Uint8Array(await file.arrayBuffer())) });
    return { name: file.name, size: file.size, text: null, id: made.file_id };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return `this server takes no files; put ${file.name} into the folder of the agent and name it`;
    return `${file.name} could not be uploaded: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function toBase64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 8_192) text += String.fromCharCode(...data.subarray(at, at + 8_192));
  return btoa(text);
}
