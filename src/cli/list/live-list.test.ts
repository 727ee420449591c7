import { describe, expect, it } from "vitest";
import { listRow as row } from "../../../test/support/cli/list-row.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { BatchMember } from "../../domain/pacing/batches.ts";
import type { Stage } from "../../domain/pacing/stage.ts";
import type { ChangeNow } from "./changes-now.ts";
import type { ListRow } from "./list-output.ts";
import { changeLines, liveList, type Reading } from "./live-list.ts";

const plain = (_style: unknown, text: string) => text;

const whole = (...rows: readonly ListRow[]): Reading => ({ rows, changes: [], isWhole: () => true });

/** A live list over readings of a test, on a screen with so many lines. */
function drawing(read: () => Promise<Reading | undefined>, height = 24, warnings: readonly string[] = []) {
  const clock = new FakeClock();
  const ended = new AbortController();
  const drawn: (readonly string[])[] = [];
  const list = liveList({
    ...{ read, clock, signal: ended.signal },
    isWanted: () => true,
    form: { clusters: false, namespaces: false, wide: false, paint: plain },
    warnings: () => warnings,
    draw: (lines) => void drawn.push(lines),
    height: () => height,
  });
  const end = async () => {
    ended.abort(new Error("ended"));
    await expect(list).rejects.toThrow("ended");
  };
  return { clock, drawn, end };
}

const withoutBlanks = (lines: readonly string[] = []) => lines.map((line) => line.replace(/ +/g, " "));

describe("a live list", () => {
  it("draws the whole table again, with ages that go on, and counts the states", async () => {
    let reading = whole(row("api", "current", { since: "2026-01-01T00:00:00Z" }), row("web", "due"));
    const { clock, drawn, end } = drawing(async () => reading);
    await clock.advance(0);
    expect(withoutBlanks(drawn.at(-1))).toEqual([
      "NAME STATE UP-TO-DATE READY REASON SINCE",
      "deployment/api current - - - 0s",
      "deployment/web due - - - -",
      "",
      "2 workloads: 1 current, 1 due",
    ]);
    await clock.advance(1_000);
    expect(withoutBlanks(drawn.at(-1))[1]).toBe("deployment/api current - - - 1s");
    reading = whole(row("web", "failed", { because: "deadline" }));
    await clock.advance(3_000);
    expect(withoutBlanks(drawn.at(-1)).slice(1)).toEqual([
      "deployment/web failed - - deadline -",
      "",
      "1 workload: 1 failed",
    ]);
    await end();
  });

  it("keeps its rows while the cluster is away, and shows why below the table", async () => {
    let reading: Reading | undefined = whole(row("api", "current"));
    const { clock, drawn, end } = drawing(async () => reading, 24, ["warning: connection refused"]);
    await clock.advance(0);
    reading = undefined;
    await clock.advance(10_000);
    expect(withoutBlanks(drawn.at(-1)).slice(1)).toEqual([
      "deployment/api current - - - -",
      "",
      "1 workload: 1 current",
      "warning: connection refused",
    ]);
    reading = { rows: [], changes: [], isWhole: () => false };
    await clock.advance(10_000);
    expect(drawn.at(-1)?.[1]).toContain("deployment/api");
    await end();
  });

  it("leaves out current workloads first on a small screen", async () => {
    const rows = Array.from({ length: 30 }, (_, each) => row(`app-${each}`, each === 29 ? "failed" : "current"));
    const { clock, drawn, end } = drawing(async () => whole(...rows), 10);
    await clock.advance(0);
    expect(drawn.at(-1)).toHaveLength(10);
    expect(withoutBlanks(drawn.at(-1)).slice(1, 3)).toEqual([
      "deployment/app-29 failed - - - -",
      "deployment/app-0 current - - - -",
    ]);
    expect(drawn.at(-1)).toContain("and 24 more");
    await end();
  });
});

describe("the tree of a change", () => {
  const now = Date.parse("2026-01-10T12:00:00Z");
  const due: Stage = { state: "due", resumedAt: undefined, wasComplete: true };
  const failed: Stage = { state: "failed", rolledAt: now, wasComplete: true };
  const member = (name: string, stage: Stage, batch?: number) => ({ name, stage, batch });
  const change = (...workloads: readonly ReturnType<typeof member>[]): ChangeNow => {
    const all = workloads.map(({ name, ...each }) => ({ key: `Deployment/shop/${name}`, ...each }));
    return {
      object: { kind: "ConfigMap", namespace: "shop", name: "page" },
      namespace: "shop",
      editedBy: "helm",
      editedAt: now - 120_000,
      members: all.map(({ key, stage }): BatchMember => ({ key, stage, priority: 0, weight: 0 })),
      batches: new Map(all.flatMap(({ key, batch }) => (batch === undefined ? [] : [[key, batch]]))),
    };
  };
  const pods = { total: 3, current: 1, mixed: 0, ready: 2, notReadyReasons: [], restarts: 0, terminatingOld: 0 };

  it("has a branch for what failed, is complete, rolls now, and each batch to come", () => {
    const waiting = Array.from({ length: 7 }, (_, each) => member(`later-${each}`, due, 2));
    const lines = changeLines(
      change(
        member("mail", due, 1),
        ...waiting,
        member("web", { state: "progressing", until: now + 60_000, wasComplete: true }),
        member("api", { state: "passed" }),
        member("other", { state: "heldElsewhere" }),
      ),
      [row("web", "rolling", { pods })],
      now,
      plain,
    );
    expect(lines).toEqual([
      "configmap/page -n shop: 1 of 11 complete, edited by helm 2m ago",
      "├── complete  deployment/api",
      "├── rolling   deployment/web 1/3",
      "├── batch 1   deployment/mail",
      "├── batch 2   deployment/later-0, deployment/later-1, deployment/later-2, deployment/later-3, deployment/later-4 and 2 more",
      "└── held      deployment/other",
    ]);
  });

  it("shows the soak time that is left, and the failure of a halted change", () => {
    const lines = changeLines(
      change(member("api", { state: "soaking", until: now + 20_000 }), member("web", failed), member("mail", due)),
      [],
      now,
      plain,
    );
    expect(lines.slice(1)).toEqual([
      "├── failed            deployment/web",
      "├── soaking 20s left  deployment/api",
      "└── held              deployment/mail",
    ]);
  });
});
