// A conversation with an agent, from the browser.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { cancelRun, listRuns, sendPrompt, startConversation } from "../api/calls";
import { Problem } from "../api/client";
import { revision } from "../state/live";
import { useResource } from "../state/resource";
import { link } from "../state/router";
import { useFollowedRun } from "../state/run_stream";
import { Conversation } from "../view/conversation";
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
  const submit = async (delivery: "queue" | "steer"): Promise<void> => {
    const prompt = text.value.trim();
    if (!prompt || isSending.value) return;
    isSending.value = true;
    try {
      const accepted = conversation === null ? await startConversation({ prompt }) : await sendPrompt(conversation, { prompt, delivery });
      text.value = "";
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
    <form class="composer" onSubmit={(event) => { event.preventDefault(); void submit("queue"); }}>
      {isWaiting ? <div class="banner">The agent waits for an answer: <a href={link(["inbox"])}>open the inbox</a></div> : null}
      <textarea class="field" rows={3} aria-label="Message" placeholder={isBusy ? "Enter steers the run, Alt-Enter queues a prompt behind it" : "Message; Enter sends it, Shift-Enter is a new line"} value={text.value} onInput={(event) => edit(event.currentTarget.value)} onKeyDown={onKeyDown} />
      <div class="row">
        <button class="button primary" disabled={!text.value.trim() || isSending.value}>{isBusy ? "Queue" : "Send"}</button>
        {isBusy && conversation ? <button type="button" class="button" disabled={!text.value.trim() || isSending.value} onClick={() => void submit("steer")}>Steer the run</button> : null}
        {isBusy && runId ? <Action label="Stop" tone="danger" done="The run stops at the next safe point" run={() => cancelRun(runId)} /> : null}
      </div>
    </form>
  );
}
