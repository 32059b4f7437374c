// Small parts that every page uses.
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { Problem } from "../api/client";
import type { Excerpt } from "../api/types";
import { now } from "../state/live";
import type { Resource } from "../state/resource";
import { ago, dateTime } from "./format";

const STATE_TONES: Record<string, string> = {
  running: "busy", queued: "", completed: "ok", failed: "bad", cancelled: "warn", interrupted: "warn",
  waiting_on_human: "wait", waiting_on_provider: "warn", waiting: "wait", resumable: "warn", stopped: "warn",
};

/** The state of a run in words. */
export function StateBadge({ state }: { state: string }): JSX.Element {
  return <span class={`badge ${STATE_TONES[state] ?? ""}`}>{words(state)}</span>;
}

export function words(code: string): string {
  const text = code.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How long ago something was, with the exact time on hover. */
export function Ago({ at }: { at: number }): JSX.Element {
  return <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>{ago(at, now.value)}</time>;
}

export function Card({ title, note, children }: { title: ComponentChildren; note?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <section class="card">
      <header><h2>{title}</h2>{note ? <span class="note">{note}</span> : null}</header>
      <div class="body">{children}</div>
    </section>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return <div class="empty"><strong>{title}</strong>{children ? <div>{children}</div> : null}</div>;
}

/** The beginning of a text, and how much is left out. */
export function ExcerptView({ text }: { text: Excerpt | null }): JSX.Element {
  if (text === null) return <span class="muted">unknown</span>;
  return <>{text.text}{text.omitted_chars > 0 ? <span class="muted"> … ({text.omitted_chars.toLocaleString("en")} more characters)</span> : null}</>;
}

export function ProblemBox({ problem }: { problem: Problem }): JSX.Element {
  return <div class="problem" role="alert"><strong>{problem.title}.</strong> {problem.message}</div>;
}

/** Shows data once they are there, and a problem beside the data that were there before. */
export function Loaded<T>({ resource, children }: { resource: Resource<T>; children: (data: T) => ComponentChildren }): JSX.Element {
  const [data, problem] = [resource.data.value, resource.problem.value];
  return (
    <>
      {problem ? <ProblemBox problem={problem} /> : null}
      {data === null ? (problem ? null : <div class="empty" aria-busy="true">Loading …</div>) : children(data)}
    </>
  );
}

/** Something long that is folded away. */
export function Fold({ summary, open, children }: { summary: ComponentChildren; open?: boolean; children: () => ComponentChildren }): JSX.Element {
  const isOpen = useSignal(open ?? false);
  return (
    <details class="fold" open={isOpen.value} onToggle={(event) => { isOpen.value = event.currentTarget.open; }}>
      <summary>{summary}</summary>
      {isOpen.value ? <div class="inside">{children()}</div> : null}
    </details>
  );
}

interface Toast { readonly id: number; readonly text: string; readonly isBad: boolean }

const TOAST_MS = 6_000;
const toasts = signal<Toast[]>([]);
let toastCount = 0;

export function say(text: string, isBad = false): void {
  const toast = { id: (toastCount += 1), text, isBad };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => { toasts.value = toasts.value.filter((other) => other.id !== toast.id); }, TOAST_MS);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => <div key={toast.id} class={`toast ${toast.isBad ? "bad" : ""}`}>{toast.text}</div>)}
    </div>
  );
}

/** A button that does something on the server: it cannot be pressed twice, and says what happened. */
export function Action({ label, done, run, tone = "", disabled = false, title }: {
  label: ComponentChildren; done: string; run: () => Promise<unknown>; tone?: string; disabled?: boolean; title?: string;
}): JSX.Element {
  const isBusy = useSignal(false);
  const press = async (): Promise<void> => {
    isBusy.value = true;
    try {
      await run();
      if (done) say(done);
    } catch (error) {
      say(error instanceof Problem ? `${error.title}. ${error.message}` : String(error), true);
    } finally {
      isBusy.value = false;
    }
  };
  return <button type="button" class={`button ${tone}`} disabled={disabled || isBusy.value} title={title} onClick={() => void press()}>{label}</button>;
}
