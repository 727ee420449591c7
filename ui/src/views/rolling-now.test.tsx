import { signal } from "@preact/signals";
import { render } from "preact-render-to-string";
import { expect, it } from "vitest";
import type { Change, Model } from "../../../src/cli/ui/model.ts";
import { recordedModel } from "../../../test/ui/recorded-model.ts";
import { type Page, PageContext } from "../context.ts";
import { readPlace } from "../place.ts";
import { RollingNow } from "./rolling-now.tsx";

const never = () => new Promise<never>(() => {});

/** Draws the view of a model, as another program with a source of its own would. */
function drawn(model: Model): string {
  const stream = signal({ state: "live", at: 0 } as const);
  const page: Page = {
    source: { model: signal(model), stream, loadWorkload: never, loadObject: never, loadTimeline: never },
    navigation: { place: signal(readPlace("?view=rolling")), open: () => {}, adjust: () => {} },
    now: signal(0),
    announce: () => {},
  };
  return render(
    <PageContext.Provider value={page}>
      <RollingNow />
    </PageContext.Provider>,
  );
}

const model = recordedModel(0);
const rolling = model.changes.rolling as Change;

it("shows the open batches of a change with very many batches, and counts the others", () => {
  const batches = Array.from({ length: 250 }, (_, number) => ({
    number,
    workloads: Array.from({ length: 40 }, (__, index) => ({
      id: `${number}-${index}`,
      state: number < 100 ? ("complete" as const) : ("waiting" as const),
    })),
  }));
  const html = drawn({ ...model, changes: { many: { ...rolling, batches } } });
  expect(html).toContain("100 more complete batches");
  expect(html).toContain("Batch 100 ");
  expect(html).toContain("10 more workloads");
  expect(html).toContain("138 more batches");
  expect(html.match(/class="member"/g)).toHaveLength(12 * 30);
});

it("shows at most 60 of very many changes", () => {
  const changes = Array.from({ length: 100 }, (_, index) => [`${index}`, { ...rolling, id: `${index}` }]);
  const html = drawn({ ...model, changes: Object.fromEntries(changes) });
  expect(html.match(/<section class="card/g)).toHaveLength(60);
  expect(html).toContain("40 more changes");
});

it("draws a workload that is gone by its id", () => {
  expect(drawn({ ...model, workloads: {} })).toContain("east/media/deployment/resize");
});
