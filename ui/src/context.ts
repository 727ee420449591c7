import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Navigation } from "./place.ts";
import type { Source } from "./source/source.ts";

/** What every view may use. */
export interface Page {
  readonly source: Source;
  readonly navigation: Navigation;
  /** The time in milliseconds since the epoch. It changes every second. */
  readonly now: ReadonlySignal<number>;
  /** A message for screen readers. */
  readonly announce: (text: string) => void;
}

/** The context with the page. */
export const PageContext = createContext<Page | undefined>(undefined);

/** Returns the page around a component. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error("no page around this component");
  return page;
}
