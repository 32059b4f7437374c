// Everything that waits for a person: what would run, in full, and every possible answer.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { answerQuestion, listQuestions } from "../api/calls";
import type { ModelQuestion, PendingQuestion } from "../api/types";
import { revision } from "../state/live";
import { useResource } from "../state/resource";
import { link } from "../state/router";
import { CallInput } from "../view/conversation";
import { Markdown } from "../view/markdown";
import { Action, Ago, Empty, Loaded, say, words } from "../view/parts";

const ANSWER_NAMES: Record<string, string> = {
  allow: "Allow", deny: "Deny", retry: "Run it again", mark_done: "It took effect", abandon: "Give up on it",
  approve: "Approve", reject: "Reject", extend: "Spend that much again", stop: "End the run", continue: "Continue",
};

/** Answers that a text goes along with. */
const TAKES_TEXT = new Set(["text", "mark_done", "deny"]);

export function InboxPage(): JSX.Element {
  const questions = useResource(listQuestions, [revision.value]);
  useNotifications(questions.data.value?.data ?? null);
  return (
    <>
      <div class="page-head"><h1>Inbox</h1><div class="actions"><NotificationButton /></div></div>
      <Loaded resource={questions}>{(found) => found.data.length === 0
        ? <div class="card"><Empty title="Nobody is waiting for you">When an agent needs an approval or an answer, it appears here.</Empty></div>
        : <div class="stack">{found.data.map((question) => <QuestionCard key={keyOf(question)} question={question} equal={found.data.filter((other) => isEqual(question, other))} />)}</div>}</Loaded>
    </>
  );
}

const keyOf = (question: PendingQuestion): string => `${question.run_id} ${question.question_id}`;

/** Questions of other runs about the very same call. */
function isEqual(question: PendingQuestion, other: PendingQuestion): boolean {
  return other !== question && question.kind === "approval" && other.kind === "approval" && question.tool_name === other.tool_name
    && question.folder === other.folder && question.input_hash !== null && question.input_hash === other.input_hash;
}

function QuestionCard({ question, equal }: { question: PendingQuestion; equal: readonly PendingQuestion[] }): JSX.Element {
  const note = useSignal("");
  const takesEqual = useSignal(false);
  const answer = async (name: string): Promise<void> => {
    const given = { answer: name, ...(TAKES_TEXT.has(name) && note.value.trim() ? { text: note.value.trim() } : {}) };
    await answerQuestion(question, given);
    if (takesEqual.value) await Promise.all(equal.map((other) => answerQuestion(other, given)));
  };
  const needsText = question.answers.some((possible) => possible.answer === "text");
  return (
    <section class="card" aria-label={question.text}>
      <div class="pending">
        <div class="row"><span class="badge wait">{words(question.kind)}</span><span class="muted small">asked <Ago at={Date.parse(question.asked_at)} /> by {question.agent ?? "default"}</span>
          {question.expires_at ? <span class="badge warn plain">expires {new Date(question.expires_at).toLocaleTimeString()}</span> : null}
          <a class="small" href={link(["runs", question.run_id])} style={{ marginLeft: "auto" }}>open the run</a></div>
        <div class="headline"><Markdown text={question.text} /></div>
        {question.tool_name ? <div class="stack"><div class="muted small">{question.tool_name}{question.folder ? <> in <span class="mono">{question.folder}</span></> : null}</div><CallInput name={question.tool_name} input={question.input} /></div> : null}
        {question.reason ? <p class="muted">{question.reason}</p> : null}
        {question.plan ? <Markdown text={question.plan} /> : null}
        {(question.options ?? []).map((asked) => <Choices asked={asked} onChoose={(text) => { note.value = note.value ? `${note.value}\n${text}` : text; }} />)}
        <label class="labelled">{needsText ? "Your answer" : "A word for the agent, for example why not"}
          <textarea class="field" rows={needsText ? 3 : 1} value={note.value} onInput={(event) => { note.value = event.currentTarget.value; }} />
        </label>
        {equal.length > 0 ? <label class="row small choice"><input type="checkbox" checked={takesEqual.value} onChange={(event) => { takesEqual.value = event.currentTarget.checked; }} />{equal.length === 1 ? "Answer the other question about the same call, too" : `Answer the ${equal.length} other questions about the same call, too`}</label> : null}
        <div class="row">{question.answers.map((possible, index) => (
          <Action key={possible.answer} label={possible.answer === "text" ? "Send" : (ANSWER_NAMES[possible.answer] ?? words(possible.answer))} title={possible.consequence} done="Answered"
            tone={index === 0 ? "primary" : possible.answer === "deny" || possible.answer === "abandon" ? "danger" : ""} disabled={possible.answer === "text" && !note.value.trim()} run={() => answer(possible.answer)} />
        ))}</div>
        {question.answers.some((possible) => possible.consequence) ? <ul class="small muted" style={{ paddingLeft: "18px" }}>{question.answers.map((possible) => <li><strong>{ANSWER_NAMES[possible.answer] ?? words(possible.answer)}</strong>: {possible.consequence}</li>)}</ul> : null}
      </div>
    </section>
  );
}

/** The choices that a model offers; one that is chosen becomes part of the answer, which can be edited. */
function Choices({ asked, onChoose }: { asked: ModelQuestion; onChoose: (text: string) => void }): JSX.Element {
  return (
    <div class="stack">
      <strong>{asked.question}</strong>
      <div class="row">{(asked.options ?? []).map((option) => <button type="button" class="button" title={option.description} onClick={() => onChoose(option.label)}>{option.label}</button>)}</div>
    </div>
  );
}

/** Tells the person through the browser about questions that are new, if they asked for it. */
function useNotifications(questions: readonly PendingQuestion[] | null): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (questions === null) return;
    const keys = new Set(questions.map((question) => keyOf(question)));
    const before = known.current;
    known.current = keys;
    if (before === null || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    for (const question of questions) {
      if (!before.has(keyOf(question))) new Notification("An agent waits for you", { body: question.text.slice(0, 180), tag: question.run_id });
    }
  }, [questions]);
}

function NotificationButton(): JSX.Element | null {
  if (!("Notification" in window) || Notification.permission !== "default") return null;
  const ask = async (): Promise<void> => {
    const given = await Notification.requestPermission();
    say(given === "granted" ? "You are told about new questions while this page is open" : "The browser shows no notifications", given !== "granted");
  };
  return <button type="button" class="button" onClick={() => void ask()}>Notify me</button>;
}
