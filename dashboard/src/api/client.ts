// Requests to the HTTP API. Every failure is a `Problem` that says what happened and what to do.
import { forgetToken, token } from "../state/session";

/** A failed request, as RFC 9457 describes it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

function address(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter((pair) => pair[1] !== null && pair[1] !== undefined && pair[1] !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

export function requestHeaders(): Record<string, string> {
  return token.value === null ? {} : { authorization: `Bearer ${token.value}` };
}

/** Reads what a failed response says. */
export async function readProblem(response: Response): Promise<Problem> {
  const fallback = { code: "unexpected", title: response.statusText, detail: `the server responded with ${response.status}` };
  const body = (await response.json().catch(() => fallback)) as Partial<typeof fallback>;
  if (response.status === 401) forgetToken();
  return new Problem(response.status, body.code ?? fallback.code, body.title ?? fallback.title, body.detail ?? fallback.detail);
}

async function request(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem(0, "unreachable", "Server unreachable", "the server cannot be reached; the page tries again by itself");
  }
  if (!response.ok) throw await readProblem(response);
  return response;
}

export async function get<T>(path: string, query: Query = {}, signal: AbortSignal | null = null): Promise<T> {
  const response = await request(address(path, query), { headers: requestHeaders(), signal });
  return (await response.json()) as T;
}

/** Changes something. The key makes a request that is sent twice take effect once. */
export async function send<T>(method: "POST" | "DELETE" | "PUT" | "PATCH", path: string, body: unknown = {}): Promise<T> {
  const headers = { ...requestHeaders(), "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
  const response = await request(path, { method, headers, body: method === "DELETE" ? null : JSON.stringify(body) });
  const text = await response.text();
  return (text ? JSON.parse(text) : null) as T;
}
