// Tokens, webhooks and schedules of the server, its agents, and what this browser keeps.
import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { createSchedule, createToken, createWebhook, deleteSchedule, deleteWebhook, getStats, listDeliveries, listSchedules, listTokens, listWebhooks, revokeToken } from "../api/calls";
import type { Schedule, TokenInfo, Webhook } from "../api/types";
import { revision, slowRevision } from "../state/live";
import { theme, type Theme } from "../state/preferences";
import { useResource, type Resource } from "../state/resource";
import { link } from "../state/router";
import { forgetToken } from "../state/session";
import { dateTime, integer } from "../view/format";
import { Action, Ago, Card, Empty, Fold, ProblemBox } from "../view/parts";

const THEMES: readonly Theme[] = ["auto", "light", "dark"];
const SCOPES = ["read", "prompt", "answer", "admin"];
const EVENTS = ["run.finished", "run.failed", "run.waiting"];
const AGENT_DAYS = 30;

export function SettingsPage(): JSX.Element {
  return (
    <>
      <div class="page-head"><h1>Settings</h1></div>
      <div class="stack">
        <Tokens /><Webhooks /><Schedules /><Agents />
        <Card title="This browser">
          <div class="stack">
            <div class="row">Theme <div class="segments" role="group" aria-label="Theme">{THEMES.map((choice) => <button type="button" aria-pressed={theme.value === choice} onClick={() => { theme.value = choice; }}>{choice}</button>)}</div></div>
            <div class="row"><span>The token is kept in this tab until it is closed.</span><button type="button" class="button" onClick={forgetToken}>Sign out</button></div>
          </div>
        </Card>
      </div>
    </>
  );
}

/** A list that can be changed. A token without the scope for it sees why there is nothing. */
function Managed<T>({ title, note, resource, empty, children, form }: {
  title: string; note: string; resource: Resource<{ data: T[] }>; empty: string; children: (items: T[]) => ComponentChildren; form: ComponentChildren;
}): JSX.Element {
  const [data, problem] = [resource.data.value, resource.problem.value];
  return (
    <section class="card" aria-label={title}>
      <header><h2>{title}</h2><span class="note">{note}</span></header>
      {problem && problem.status !== 404 ? <div class="body">{problem.status === 403 ? <p class="muted">Your token may not see this: it needs the scope <code>admin</code>.</p> : <ProblemBox problem={problem} />}</div> : null}
      {problem?.status === 404 ? <div class="body muted">This server does not offer it.</div> : null}
      {data ? (data.data.length === 0 ? <Empty title={empty} /> : <div class="scroll-x">{children(data.data)}</div>) : null}
      {data ? <div class="body">{form}</div> : null}
    </section>
  );
}

/** Something that is shown once and can be copied. */
function Secret({ name, value }: { name: string; value: Signal<string | null> }): JSX.Element | null {
  if (value.value === null) return null;
  return (
    <div class="banner stack" role="status">
      <span>{name}: copy it now, it cannot be read again.</span>
      <div class="row"><code class="wrap">{value.value}</code><button type="button" class="button small" onClick={() => void navigator.clipboard?.writeText(value.value ?? "")}>Copy</button><button type="button" class="button small quiet" onClick={() => { value.value = null; }}>Done</button></div>
    </div>
  );
}

function TextField({ label, value, placeholder, isNumber = false }: { label: string; value: Signal<string>; placeholder?: string; isNumber?: boolean }): JSX.Element {
  return <label class="labelled">{label}<input class="field" inputMode={isNumber ? "numeric" : "text"} value={value.value} placeholder={placeholder ?? ""} onInput={(event) => { value.value = event.currentTarget.value; }} /></label>;
}

function Choices({ label, options, chosen }: { label: string; options: readonly string[]; chosen: Signal<string[]> }): JSX.Element {
  const toggle = (option: string): void => { chosen.value = chosen.value.includes(option) ? chosen.value.filter((other) => other !== option) : [...chosen.value, option]; };
  return <div class="row" role="group" aria-label={label}>{options.map((option) => <label class="row small"><input type="checkbox" checked={chosen.value.includes(option)} onChange={() => toggle(option)} />{option}</label>)}</div>;
}

function Tokens(): JSX.Element {
  const changed = useSignal(0);
  const tokens = useResource(listTokens, [changed.value]);
  const [name, scopes, days, created] = [useSignal(""), useSignal<string[]>(["read"]), useSignal(""), useSignal<string | null>(null)];
  const create = async (): Promise<void> => {
    const expires = Number(days.value) > 0 ? { expires_at: new Date(Date.now() + Number(days.value) * 86_400_000).toISOString() } : {};
    created.value = (await createToken({ name: name.value.trim(), scopes: scopes.value, ...expires })).token;
    name.value = "";
    changed.value += 1;
  };
  const revoke = async (token: TokenInfo): Promise<void> => { await revokeToken(token.token_id); changed.value += 1; };
  return (
    <Managed title="Tokens" note="who may use the API, and for what" resource={tokens} empty="No tokens besides the one of the server" form={(
      <div class="stack">
        <Secret name="The token" value={created} />
        <div class="row ends">
          <TextField label="Name" value={name} placeholder="what it is for" /><TextField label="Valid for days" value={days} placeholder="forever" isNumber />
          <Choices label="Scopes" options={SCOPES} chosen={scopes} />
          <Action label="Create token" tone="primary" done="The token was created" disabled={!name.value.trim() || scopes.value.length === 0} run={create} />
        </div>
      </div>
    )}>{(items) => (
      <div class="scroll-x" tabIndex={0} role="region" aria-label="List of tokens"><table>
        <thead><tr><th>Name</th><th>Tenant</th><th>Scopes</th><th>Created</th><th>Expires</th><th><span class="sr-only">Actions</span></th></tr></thead>
        <tbody>{items.map((token) => (
          <tr key={token.token_id}><td class="name" title={token.token_id}>{token.name}</td><td>{token.tenant ?? "all"}</td><td>{token.scopes.map((scope) => <span class="badge plain gap">{scope}</span>)}</td><td><Ago at={Date.parse(token.created_at)} /></td><td>{token.expires_at ? dateTime(Date.parse(token.expires_at)) : "never"}</td>
            <td><Action label="Revoke" tone="danger small" done="The token was revoked" run={() => revoke(token)} /></td></tr>
        ))}</tbody>
      </table></div>
    )}</Managed>
  );
}

function Webhooks(): JSX.Element {
  const changed = useSignal(0);
  const webhooks = useResource(listWebhooks, [changed.value]);
  const [url, events, secret] = [useSignal(""), useSignal<string[]>([...EVENTS]), useSignal<string | null>(null)];
  const create = async (): Promise<void> => {
    secret.value = (await createWebhook({ url: url.value.trim(), events: events.value })).secret;
    url.value = "";
    changed.value += 1;
  };
  const remove = async (webhook: Webhook): Promise<void> => { await deleteWebhook(webhook.webhook_id); changed.value += 1; };
  return (
    <Managed title="Webhooks" note="addresses that are told when runs end or wait" resource={webhooks} empty="No webhooks yet" form={(
      <div class="stack">
        <Secret name="The secret that deliveries are signed with" value={secret} />
        <div class="row ends">
          <TextField label="Address" value={url} placeholder="https://…" /><Choices label="Events" options={EVENTS} chosen={events} />
          <Action label="Add webhook" tone="primary" done="The webhook was added" disabled={!url.value.trim() || events.value.length === 0} run={create} />
        </div>
      </div>
    )}>{(items) => (
      <ul class="plain">{items.map((webhook) => (
        <li key={webhook.webhook_id} class="stack">
          <div class="row"><span class="mono wrap">{webhook.url}</span>{webhook.events.map((event) => <span class="badge plain">{event}</span>)}<Action label="Remove" tone="danger small" done="The webhook was removed" run={() => remove(webhook)} /></div>
          <Fold summary="Deliveries">{() => <Deliveries id={webhook.webhook_id} />}</Fold>
        </li>
      ))}</ul>
    )}</Managed>
  );
}

function Deliveries({ id }: { id: string }): JSX.Element {
  const deliveries = useResource((stop) => listDeliveries(id, stop), [id, revision.value]);
  const found = deliveries.data.value?.data ?? [];
  if (found.length === 0) return <span class="muted">None yet.</span>;
  return <ul class="plain">{found.map((delivery) => <li class="row small"><span class={`badge ${delivery.status === "delivered" ? "ok" : delivery.status === "failed" || delivery.status === "dead" ? "bad" : "warn"}`}>{delivery.status}</span>{delivery.event}<a href={link(["runs", delivery.run_id])}>run</a><span class="muted">{integer(delivery.attempts)} attempts</span>{delivery.last_error ? <span class="bad-text">{delivery.last_error}</span> : null}</li>)}</ul>;
}

function Schedules(): JSX.Element {
  const changed = useSignal(0);
  const schedules = useResource(listSchedules, [changed.value, slowRevision.value]);
  const [name, cron, prompt] = [useSignal(""), useSignal(""), useSignal("")];
  const create = async (): Promise<void> => {
    await createSchedule({ name: name.value.trim(), cron: cron.value.trim(), prompt: prompt.value.trim(), time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone });
    name.value = cron.value = prompt.value = "";
    changed.value += 1;
  };
  const remove = async (schedule: Schedule): Promise<void> => { await deleteSchedule(schedule.schedule_id); changed.value += 1; };
  return (
    <Managed title="Schedules" note="prompts that are sent by the clock" resource={schedules} empty="No schedules yet" form={(
      <div class="row ends">
        <TextField label="Name" value={name} placeholder="nightly report" /><TextField label="Cron expression" value={cron} placeholder="0 6 * * 1-5, @daily" /><TextField label="Prompt" value={prompt} placeholder="what to do" />
        <Action label="Add schedule" tone="primary" done="The schedule was added" disabled={!name.value.trim() || !cron.value.trim() || !prompt.value.trim()} run={create} />
      </div>
    )}>{(items) => (
      <div class="scroll-x" tabIndex={0} role="region" aria-label="List of schedules"><table>
        <thead><tr><th>Name</th><th>When</th><th>Prompt</th><th>Next</th><th>Last</th><th><span class="sr-only">Actions</span></th></tr></thead>
        <tbody>{items.map((schedule) => (
          <tr key={schedule.schedule_id}><td class="name" title={schedule.name}>{schedule.name}</td><td class="mono small">{schedule.cron} <span class="muted">{schedule.time_zone}</span></td><td class="name" title={schedule.prompt}>{schedule.prompt}</td>
            <td>{schedule.is_paused ? <span class="badge warn">paused</span> : schedule.next_at ? dateTime(Date.parse(schedule.next_at)) : "–"}</td>
            <td>{schedule.last_error ? <span class="bad-text">{schedule.last_error}</span> : schedule.last_run_id ? <a href={link(["runs", schedule.last_run_id])}>run</a> : "–"}</td>
            <td><Action label="Remove" tone="danger small" done="The schedule was removed" run={() => remove(schedule)} /></td></tr>
        ))}</tbody>
      </table></div>
    )}</Managed>
  );
}

function Agents(): JSX.Element | null {
  const stats = useResource((stop) => getStats({ days: AGENT_DAYS }, stop), [slowRevision.value]);
  const agents = stats.data.value?.agents ?? [];
  if (agents.length === 0) return null;
  return (
    <section class="card" aria-label="Agents">
      <header><h2>Agents</h2><span class="note">that ran in the last {AGENT_DAYS} days, with their profile</span></header>
      <ul class="plain">{agents.map((agent) => <li class="row"><a href={link(["runs"], { agent: agent.agent })}>{agent.agent}</a><span class="muted">{agent.profile || "no profile"}</span><span class="muted small">{integer(agent.runs)} runs</span></li>)}</ul>
    </section>
  );
}
