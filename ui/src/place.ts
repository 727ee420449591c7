// What the address of the page says: the view, what it shows, and the filters. A copied address opens the same place.
import { type ReadonlySignal, signal } from "@preact/signals";

/** The views of the page, in the order of their links, with their titles. */
export const views = {
  needs: "Needs me",
  rolling: "Rolling now",
  workloads: "Workloads",
  timeline: "Timeline",
  act: "Who must act",
} as const;

/** The name of a view that the address may have. `workload` and `object` are opened from other views. */
export type ViewName = keyof typeof views | "workload" | "object";

/** A place of the page. "" stands for no filter. */
export interface Place {
  readonly view: ViewName;
  /** The id of the workload that is open. */
  readonly id: string;
  readonly cluster: string;
  readonly namespace: string;
  /** The object that is open, for example `configmap/web`. */
  readonly object: string;
  /** The state of the rows. */
  readonly state: string;
  /** A text that the rows contain. */
  readonly text: string;
  /** The span of the timeline in milliseconds. */
  readonly span: string;
}

const nowhere: Place = { view: "needs", id: "", cluster: "", namespace: "", object: "", state: "", text: "", span: "" };

/** Returns the place in the query of an address. Unknown fields are ignored. */
export function readPlace(query: string): Place {
  const given = new URLSearchParams(query);
  const known = Object.entries(nowhere).map(([field, none]) => [field, given.get(field) ?? none]);
  const place = Object.fromEntries(known) as unknown as Place;
  const isView = Object.hasOwn(views, place.view) || place.view === "workload" || place.view === "object";
  return isView ? place : { ...place, view: nowhere.view };
}

/** Returns the address of a place: a query with the fields that differ from the first view. */
export function hrefOf(place: Partial<Place>): string {
  const given = Object.entries(place).filter(([field, value]) => value !== nowhere[field as keyof Place]);
  return `?${new URLSearchParams(given as [string, string][])}`;
}

/** The place that is shown, and the ways to another one. */
export interface Navigation {
  readonly place: ReadonlySignal<Place>;
  /** Opens a place, with a new entry of the history. */
  readonly open: (href: string) => void;
  /** Changes fields of the place, without a new entry of the history: for filters. */
  readonly adjust: (fields: Partial<Place>) => void;
}

/** Returns the navigation over the address of the window. */
export function windowNavigation(): Navigation {
  const place = signal(readPlace(location.search));
  const show = () => {
    place.value = readPlace(location.search);
  };
  addEventListener("popstate", show);
  return {
    place,
    open: (href) => {
      history.pushState(null, "", href);
      scrollTo(0, 0);
      show();
    },
    adjust: (fields) => {
      history.replaceState(null, "", hrefOf({ ...place.value, ...fields }));
      show();
    },
  };
}
