// What surrounds every page: navigation, the state of the connection, and the way in.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { get } from "./api/client";
import { listQuestions } from "./api/calls";
import { Problem } from "./api/client";
import { ChatPage } from "./pages/chat";
import { InboxPage } from "./pages/inbox";
import { LogsPage } from "./pages/logs";
import { OverviewPage } from "./pages/overview";
import { RunPage } from "./pages/run";
import { RunsPage } from "./pages/runs";
import { SettingsPage } from "./pages/settings";
import { WorkersPage } from "./pages/workers";
import { connection, revision } from "./state/live";
import { theme, type Theme } from "./state/preferences";
import { useResource } from "./state/resource";
import { link, route } from "./state/router";
import { setToken, token } from "./state/session";
import { Empty, Toasts } from "./view/parts";

interface NavItem { readonly path: string; readonly name: string; readonly icon: string }

const NAV: readonly NavItem[] = [
  { path: "", name: "Overview", icon: "M3 12h4v8H3zM10 4h4v16h-4zM17 9h4v11h-4z" },
  { path: "runs", name: "Runs", icon: "M4 6h16M4 12h16M4 18h10" },
  { path: "inbox", name: "Inbox", icon: "M4 5h16v14H4zM4 14h5l1.5 2h3L15 14h5" },
  { path: "chat", name: "Chat", icon: "M4 5h16v11H9l-5 4z" },
  { path: "logs", name: "Logs", icon: "M5 4h14v16H5zM8 9h8M8 13h8M8 17h5" },
  { path: "workers", name: "Workers", icon: "M4 5h16v6H4zM4 13h16v6H4zM7 8h.01M7 16h.01" },
  { path: "settings", name: "Settings", icon: "M12 9a3 3 0 100 6 3 3 0 000-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1" },
];

function page(path: readonly string[]): ComponentChildren {
  const [name = "", id] = path;
  switch (name) {
    case "": return <OverviewPage />;
    case "runs": return id ? <RunPage key={id} id={id} tab={path[2] ?? "timeline"} /> : <RunsPage />;
    case "inbox": return <InboxPage />;
    case "chat": return <ChatPage key={id ?? "new"} conversation={id ?? null} />;
    case "logs": return <LogsPage />;
    case "workers": return <WorkersPage />;
    case "settings": return <SettingsPage />;
    default: return <Empty title="There is no such page"><a href={link([])}>Go to the overview</a></Empty>;
  }
}

export function Frame(): JSX.Element {
  if (token.value === null) return <SignIn />;
  const current = route.value.path[0] ?? "";
  useEffect(() => {
    const name = NAV.find((item) => item.path === current)?.name ?? "Windlass";
    document.title = `${name} · Windlass`;
  }, [current]);
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.querySelector("main")?.focus(); }}>Skip to the content</a>
      <nav class="sidebar" aria-label="Pages">
        <a class="brand" href={link([])}><img src="/icon.svg" alt="" /><span>Windlass</span></a>
        {NAV.map((item) => <NavLink key={item.path} item={item} isCurrent={item.path === current} />)}
        <div class="sidebar-foot">
          <ConnectionBadge />
          <ThemeChoice />
        </div>
      </nav>
      <div>
        {connection.value === "lost" ? <div class="banner" role="status">The server cannot be reached. What you see is as of the last update; the page tries again by itself.</div> : null}
        <main tabIndex={-1}>{page(route.value.path)}</main>
      </div>
      <Toasts />
    </div>
  );
}

function NavLink({ item, isCurrent }: { item: NavItem; isCurrent: boolean }): JSX.Element {
  const self = useRef<HTMLAnchorElement>(null);
  // On a narrow screen the pages are a row that scrolls. `scrollIntoView` would also make the next Tab start here.
  useEffect(() => {
    const row = self.current?.parentElement;
    if (isCurrent && self.current && row) row.scrollLeft = self.current.offsetLeft - (row.clientWidth - self.current.offsetWidth) / 2;
  }, [isCurrent]);
  return (
    <a class="nav-link" ref={self} href={link(item.path ? [item.path] : [])} aria-current={isCurrent ? "page" : undefined}>
      <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round" stroke-linecap="round" aria-hidden="true"><path d={item.icon} /></svg>
      {item.name}
      {item.path === "inbox" ? <QuestionCount /> : null}
    </a>
  );
}

function QuestionCount(): JSX.Element | null {
  const questions = useResource(listQuestions, [revision.value, token.value]);
  const count = questions.data.value?.data.length ?? 0;
  return count > 0 ? <span class="nav-count" aria-label={`${count} pending`}>{count}</span> : null;
}

function ConnectionBadge(): JSX.Element {
  const [tone, text] = { connecting: ["", "Connecting"], live: ["ok", "Live"], lost: ["bad", "Offline"] }[connection.value] as [string, string];
  return <span class={`badge ${tone}`} role="status">{text}</span>;
}

function ThemeChoice(): JSX.Element {
  const choices: Theme[] = ["auto", "light", "dark"];
  return (
    <div class="segments wide" role="group" aria-label="Theme">
      {choices.map((choice) => <button type="button" aria-pressed={theme.value === choice} onClick={() => { theme.value = choice; }}>{choice}</button>)}
    </div>
  );
}

function SignIn(): JSX.Element {
  const value = useSignal("");
  const problem = useSignal("");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setToken(value.value.trim());
    try {
      await get("/v1/runs", { limit: 1 });
    } catch (error) {
      problem.value = error instanceof Problem ? error.message : String(error);
    }
  };
  return (
    <main style={{ maxWidth: "520px", margin: "12vh auto" }}>
      <form class="card" onSubmit={(event) => void submit(event)}>
        <header><h1 style={{ fontSize: "17px" }}>Sign in to Windlass</h1></header>
        <div class="body stack">
          <p>Open the address that <code>windlass serve --open</code> or <code>windlass dashboard</code> prints: it brings the token along. Or enter the token of the server:</p>
          <label class="labelled">Token
            <input class="field" type="password" autoComplete="off" spellcheck={false} value={value.value} onInput={(event) => { value.value = event.currentTarget.value; }} />
          </label>
          {problem.value ? <div class="problem" role="alert">{problem.value}</div> : null}
          <button class="button primary" disabled={!value.value.trim()}>Sign in</button>
        </div>
      </form>
    </main>
  );
}
