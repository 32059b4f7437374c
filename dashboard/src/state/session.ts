// The token of this browser tab. It comes in the fragment of the address, which no server and no
// log sees, and is kept in the tab's session storage.
import { signal } from "@preact/signals";

const TOKEN_KEY = "windlass.token";

function takeTokenFromAddress(): string | null {
  const match = /^#token=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (!match?.[1]) return null;
  history.replaceState(null, "", `${location.pathname}#${match[2] ?? "/"}`);
  return decodeURIComponent(match[1]);
}

function initialToken(): string | null {
  const given = takeTokenFromAddress();
  if (given !== null) sessionStorage.setItem(TOKEN_KEY, given);
  return given ?? sessionStorage.getItem(TOKEN_KEY);
}

export const token = signal<string | null>(initialToken());

export function setToken(value: string): void {
  sessionStorage.setItem(TOKEN_KEY, value);
  token.value = value;
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN_KEY);
  token.value = null;
}

addEventListener("hashchange", () => {
  const given = takeTokenFromAddress();
  if (given !== null) setToken(given);
});
