import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { PageContext, usePage } from "./context.ts";
import { Header } from "./header.tsx";
import { hrefOf, type Navigation, type ViewName, views } from "./place.ts";
import type { Source } from "./source/source.ts";
import { nameOf } from "./states.ts";
import { NeedsMe } from "./views/needs-me.tsx";
import { ObjectView } from "./views/object.tsx";
import { RollingNow } from "./views/rolling-now.tsx";
import { Timeline } from "./views/timeline.tsx";
import { WhoMustAct } from "./views/who-must-act.tsx";
import { WorkloadView } from "./views/workload.tsx";
import { Workloads } from "./views/workloads.tsx";

const components = {
  needs: NeedsMe,
  rolling: RollingNow,
  workloads: Workloads,
  workload: WorkloadView,
  object: ObjectView,
  timeline: Timeline,
  act: WhoMustAct,
} as const satisfies Record<ViewName, () => ComponentChildren>;

interface MainProps {
  readonly source: Source;
  readonly navigation: Navigation;
  readonly now: ReadonlySignal<number>;
}

/** Shows the page: the header, the links to the views, and the view of the address. */
export function Main({ source, navigation, now }: MainProps) {
  const announced = useSignal("");
  const page = useMemo(() => {
    const announce = (text: string) => {
      announced.value = text;
    };
    return { source, navigation, now, announce };
  }, [source, navigation, now]);
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Header />
      <Links />
      <View />
      <p class="unseen" role="status">
        {announced}
      </p>
    </PageContext.Provider>
  );
}

/** The links to the views, with the numbers that a reader looks for first. */
function Links() {
  const { source, navigation, announce } = usePage();
  const announced = useRef<number | undefined>(undefined);
  const numbers = useComputed(() => {
    const { workloads, changes, tasks } = source.model.value;
    return {
      needs: Object.values(workloads).filter(({ needsPerson }) => needsPerson).length,
      rolling: Object.values(changes).filter(({ state }) => state !== "complete").length,
      workloads: Object.keys(workloads).length,
      timeline: undefined,
      act: Object.values(tasks).filter(({ type }) => type !== "window").length,
    };
  });
  const { view, namespace, cluster } = navigation.place.value;
  const isRead = source.stream.value.at !== null;
  useEffect(() => {
    const { needs } = numbers.value;
    document.title = needs === 0 ? "Wave" : `(${needs}) Wave`;
    if (!isRead || needs === announced.current) return;
    if (announced.current !== undefined)
      announce(needs === 1 ? "1 workload needs you." : `${needs} workloads need you.`);
    announced.current = needs;
  });
  return (
    <nav aria-label="Views">
      {Object.entries(views).map(([name, title]) => {
        const number = numbers.value[name as keyof typeof views];
        return (
          <a
            key={name}
            href={hrefOf({ view: name as keyof typeof views, namespace, cluster })}
            aria-current={view === name ? "page" : name === "workloads" && !(view in views) ? "true" : undefined}
            onClick={follow(navigation)}
          >
            {title}
            {isRead && number !== undefined && (
              <span class={name === "needs" && number > 0 ? "number red" : "number"}>{number}</span>
            )}
          </a>
        );
      })}
    </nav>
  );
}

/** Shows the view of the address. The focus goes to its heading when the reader opens another view. */
function View() {
  const { source, navigation } = usePage();
  const { view, id, object } = navigation.place.value;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [view, id, object]);
  const Component = components[view];
  const row = source.model.value.workloads[id];
  const title =
    view === "workload" ? (row === undefined ? "Workload" : nameOf(row)) : view === "object" ? object : views[view];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser makes a click of each key that follows a link.
    <main id="view" ref={main} tabIndex={-1} onClick={follow(navigation)}>
      <h1 tabIndex={-1}>{title}</h1>
      {source.stream.value.at === null ? (
        <p class="empty">Reading the cluster…</p>
      ) : (
        <Component key={`${id} ${object}`} />
      )}
    </main>
  );
}

/** Returns a listener that opens the links to places of this page without loading the page again. */
function follow(navigation: Navigation) {
  return (event: MouseEvent) => {
    const href = (event.target as Element).closest("a")?.getAttribute("href");
    if (!href?.startsWith("?") || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigation.open(href);
  };
}
