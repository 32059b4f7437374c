// Data of the API that a page shows: loaded, loaded again when something changed, and kept on the
// screen while the server is away.
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Problem } from "../api/client";

export interface Resource<T> {
  readonly data: Signal<T | null>;
  readonly problem: Signal<Problem | null>;
  readonly isLoading: Signal<boolean>;
}

/** Loads with `load` whenever one of `inputs` changes. Data of the last load stay until the next
 * ones are there, so nothing flickers. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Resource<T> {
  const data = useSignal<T | null>(null);
  const problem = useSignal<Problem | null>(null);
  const isLoading = useSignal(true);
  useEffect(() => {
    const stop = new AbortController();
    isLoading.value = true;
    load(stop.signal).then(
      (loaded) => { data.value = loaded; problem.value = null; isLoading.value = false; },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        problem.value = error instanceof Problem ? error : new Problem(0, "unexpected", "Error in the page", String(error));
        isLoading.value = false;
      },
    );
    return () => stop.abort();
  }, inputs);
  return { data, problem, isLoading };
}
