import { render } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { recordedModel } from "../../../test/ui/recorded-model.ts";
import { StateName } from "./mark.tsx";
import { Pods } from "./pods.tsx";
import { shownIndexes } from "./rows.tsx";

const pod = (name: string, content: "new" | "old", phase: "ready" | "failed" = "ready") => ({ name, content, phase });

describe("Pods", () => {
  it("are squares with a name for screen readers and a title for each Pod", () => {
    const podList = [pod("web-1", "old"), pod("web-2", "new", "failed")];
    const html = render(<Pods pods={{ total: 2, ready: 1, current: 1 }} podList={podList} />);
    expect(html).toContain('aria-label="1 of 2 Pods with new content; 1 failed"');
    expect(html).toContain("<title>web-1: old content, ready</title>");
    expect(html.match(/<rect/g)).toHaveLength(2);
    expect(html).not.toContain("more");
    expect(html).not.toContain("style=");
  });

  it("beyond those in the list are a number", () => {
    const html = render(<Pods pods={{ total: 70, ready: 70, current: 70 }} podList={[pod("web-1", "new")]} />);
    expect(html).toContain("and 69 more");
    expect(render(<Pods pods={{ total: 3, ready: 3, current: 3 }} podList={[]} />)).toContain("3 Pods");
  });
});

it("a state has its name, its meaning, and the reason of a hold", () => {
  const { state, because } = recordedModel(0).workloads["east/shop/deployment/cart"] ?? { state: "", because: null };
  const html = render(<StateName state={state} because={because} />);
  expect(html).toContain("held: approval");
  expect(html).toContain("A rollout is due, but a hold applies");
  expect(render(<StateName state="newer" because="soon" />)).toContain("newer");
});

it("rows near the screen and the row with the focus are in the page", () => {
  expect(shownIndexes({ first: 2, end: 5 }, -1, 9)).toEqual([2, 3, 4]);
  expect(shownIndexes({ first: 2, end: 5 }, 3, 9)).toEqual([2, 3, 4]);
  expect(shownIndexes({ first: 2, end: 5 }, 0, 9)).toEqual([0, 2, 3, 4]);
  expect(shownIndexes({ first: 2, end: 5 }, 8, 9)).toEqual([2, 3, 4, 8]);
  expect(shownIndexes({ first: 2, end: 5 }, -1, 1)).toEqual([0]);
  expect(shownIndexes({ first: 0, end: 5 }, -1, 0)).toEqual([]);
});
