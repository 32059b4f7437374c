// The page that is shown, as the fragment of the address: `#/runs/ID?iteration=3`.
import { signal } from "@preact/signals";

export interface Route {
  /** The parts of the path: `["runs", "ID"]`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function currentRoute(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return {
    path: path.split("/").filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(query),
  };
}

export const route = signal<Route>(currentRoute());

addEventListener("hashchange", () => {
  route.value = currentRoute();
});

/** The address of a page, for links. */
export function link(path: readonly string[], query: Record<string, string | null | undefined> = {}): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const text = new URLSearchParams(pairs).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Changes the query of the current page without a new step in the browser's history. */
export function setQuery(query: Record<string, string | null | undefined>): void {
  const all = { ...Object.fromEntries(route.value.query), ...query };
  history.replaceState(null, "", link(route.value.path, all));
  route.value = currentRoute();
}
