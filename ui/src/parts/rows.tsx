import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Up to this number, rows have their natural height and all of them are in the page. */
const shortList = 100;
/** The number of rows outside of the screen that are in the page, on each side. */
const margin = 12;

interface RowsProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly children: (item: Item) => ComponentChildren;
}

/** The rows in the page: from `first` to before `end`, and the row with the focus. */
interface Range {
  readonly first: number;
  readonly end: number;
}

/**
 * Shows rows, of which only those near the screen are in the page. Arrow keys, Page Up, Page Down, Home and End move the focus
 * between rows. The row with the focus stays in the page.
 */
export function Rows<Item>({ label, items, keyOf, children }: RowsProps<Item>) {
  const list = useRef<HTMLDivElement>(null);
  const range = useSignal<Range>({ first: 0, end: shortList });
  const focused = useSignal<string | undefined>(undefined);
  const isLong = items.length > shortList;

  useLayoutEffect(() => {
    if (!isLong) return;
    const measure = () => {
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const height = rowHeight(list.current);
      // In steps, so that a small movement changes nothing.
      const first = Math.floor(Math.max(0, -top / height - margin) / margin) * margin;
      const end = first + Math.ceil(innerHeight / height) + 3 * margin;
      if (first !== range.value.first || end !== range.value.end) range.value = { first, end };
    };
    measure();
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, [isLong, items.length]);

  const kept = focused.value === undefined ? -1 : items.findIndex((item) => keyOf(item) === focused.value);
  const shown = isLong ? shownIndexes(range.value, kept, items.length) : items.map((_, index) => index);
  const height = rowHeight(list.current);
  const gaps = (from: number, to: number) =>
    to > from && <svg key={`gap-${from}`} class="gap" width="1" height={(to - from) * height} aria-hidden="true" />;

  /** Moves the focus to the first control of a row, which may not be in the page yet. */
  const focusRow = (index: number) => {
    const item = items[Math.min(items.length - 1, Math.max(0, index))];
    if (item === undefined) return;
    focused.value = keyOf(item);
    requestAnimationFrame(() => {
      const row = list.current?.querySelector(`[data-key="${CSS.escape(keyOf(item))}"]`);
      row?.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: "nearest" });
    });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const row = (event.target as Element).closest<HTMLElement>("[data-key]");
    if (row === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = items.findIndex((item) => keyOf(item) === row.dataset.key);
    const page = Math.max(1, Math.floor(innerHeight / height) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: Infinity };
    const index = (to as Readonly<Record<string, number>>)[event.key];
    if (index === undefined) return;
    event.preventDefault();
    focusRow(index);
  };

  let next = 0;
  return (
    <div
      ref={list}
      role="list"
      aria-label={label}
      class={isLong ? "rows long" : "rows"}
      onKeyDown={onKeyDown}
      onFocusIn={({ target }) => {
        focused.value = (target as Element).closest<HTMLElement>("[data-key]")?.dataset.key;
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null) focused.value = undefined;
      }}
    >
      {shown.flatMap((index) => {
        const item = items[index] as Item;
        const before = gaps(next, index);
        next = index + 1;
        const key = keyOf(item);
        const row = (
          <div
            key={key}
            data-key={key}
            role="listitem"
            class="row"
            aria-setsize={items.length}
            aria-posinset={index + 1}
          >
            {children(item)}
          </div>
        );
        return before ? [before, row] : [row];
      })}
      {gaps(next, items.length)}
    </div>
  );
}

/** Returns the indexes of the rows in the page, in ascending order. `kept` is the row with the focus, -1 for none. */
export function shownIndexes({ first, end }: Range, kept: number, length: number): readonly number[] {
  const from = Math.min(first, Math.max(0, length - 1));
  const near = Array.from({ length: Math.max(0, Math.min(end, length) - from) }, (_, index) => from + index);
  if (kept === -1 || (kept >= from && kept < end)) return near;
  return kept < from ? [kept, ...near] : [...near, kept];
}

/** Returns the height of each row of a long list, which the style sheet decides, in pixels. */
function rowHeight(list: HTMLElement | null): number {
  return list?.querySelector<HTMLElement>(".row")?.offsetHeight || 72;
}
