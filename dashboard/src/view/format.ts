// Numbers, times and money as people read them.

const INTEGER = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DATE_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

export function integer(value: number): string {
  return INTEGER.format(value);
}

/** A count of tokens: exact below 10,000, shortened above. */
export function tokens(value: number): string {
  return value < 10_000 ? INTEGER.format(value) : COMPACT.format(value);
}

export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** Money: more digits where amounts are small. An unknown price is a dash and never zero. */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "$0";
  return `$${value.toFixed(value < 0.1 ? 4 : 2)}`;
}

export function duration(ms: number): string {
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

export function ago(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1_000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** A day in UTC: "2026-11-19" as "19 Nov". */
export function day(key: string): string {
  return DAY.format(Date.parse(`${key}T00:00:00Z`));
}

/** Money that is given in millionths of a dollar. */
export function micros(value: number | null | undefined): string {
  return dollars(value === null || value === undefined ? null : value / 1_000_000);
}

export function clock(atMs: number): string {
  return CLOCK.format(atMs);
}

export function dateTime(atMs: number): string {
  return DATE_TIME.format(atMs);
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KiB`;
  return `${(value / 1_048_576).toFixed(1)} MiB`;
}

/** A count with its noun: "1 run", "2 runs". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${INTEGER.format(count)} ${count === 1 ? noun : nouns}`;
}

/** A field of an event: moments as a time of day. */
export function eventField(name: string, value: unknown): string {
  if (typeof value === "number" && value > 1e12 && /(until|at|at_ms)$/.test(name)) return `${name}=${clock(value)}`;
  return `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}
