import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** What was loaded: nothing yet, a value, or the reason why there is none. A value stays until the next one is there. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: string | undefined;
}

/** Loads a value, and loads it again when one of `reasons` differs. Answers that are overtaken are ignored. */
export function useLoaded<Value>(load: () => Promise<Value>, reasons: readonly unknown[]): Loaded<Value> {
  const loaded = useSignal<Loaded<Value>>({ value: undefined, error: undefined });
  useEffect(() => {
    let isWanted = true;
    load().then(
      (value) => {
        if (isWanted) loaded.value = { value, error: undefined };
      },
      (error: Error) => {
        if (isWanted) loaded.value = { value: loaded.peek().value, error: error.message };
      },
    );
    return () => {
      isWanted = false;
    };
  }, reasons);
  return loaded.value;
}

/** Shows that a value is not there yet, or why it could not be loaded. */
export function NotLoaded({ value, error }: Loaded<unknown>) {
  if (error !== undefined)
    return (
      <p class="banner" role="alert">
        {error}
      </p>
    );
  return value === undefined ? <p class="empty">Reading…</p> : null;
}
