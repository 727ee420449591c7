import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { blocksFollowedBy, exchangesOf } from "../../../test/docs/fences.ts";
import { paintOf } from "../output/table.ts";
import { renderHistory } from "./history.ts";
import { type HistoryEntry, type RevisionRollout, revisionStates } from "./workload-history.ts";

const now = Date.parse("2026-01-10T12:00:00Z");
const day = 86_400_000;

function entry(revision: number, ageMs: number, fields: Partial<HistoryEntry>): HistoryEntry {
  return {
    revision,
    name: `web-${revision}`,
    createdAt: new Date(now - ageMs).toISOString(),
    hash: `v2:${String(revision).repeat(64)}`,
    state: "old",
    pods: 0,
    pinning: null,
    copies: {},
    cause: "configMaps",
    changes: [],
    rollout: null,
    ...fields,
  };
}

const page = { name: "page", how: "changed", added: [], removed: [], changed: ["index.html"], editedBy: null } as const;

it("docs/commands.md shows a history as wave history prints it", () => {
  const start = (ageMs: number, more: Partial<RevisionRollout>): RevisionRollout => ({
    startedAt: new Date(now - ageMs).toISOString(),
    why: "changed",
    edits: [],
    heldBy: null,
    end: { result: "complete", at: new Date(now - ageMs + 24_000).toISOString(), why: null },
    ...more,
  });
  const secret = { kind: "Secret", namespace: "shop", name: "db", keys: ["password"], editedAt: null } as const;
  const entries = [
    entry(1, 5 * day + 7_200_000, { cause: "first" }),
    entry(2, 2 * day, { state: "rolledBack", changes: [{ ...page, added: ["menu.html"] }] }),
    entry(3, day, { rollout: start(day, { edits: [{ ...secret, editedBy: "vault" }], heldBy: "window" }) }),
    entry(4, 92_000, {
      state: "failed",
      pods: 3,
      changes: [{ ...page, editedBy: "kubectl-edit" }],
      rollout: start(92_000, { end: { result: "failed", at: null, why: "web-7f CrashLoopBackOff" } }),
    }),
  ];
  const blocks = blocksFollowedBy("src/cli/history/history-docs.test.ts", "docs/commands.md");
  expect(blocks.flatMap(exchangesOf)).toEqual([
    {
      command: "wave history deployment/web -n shop",
      output: renderHistory(entries, now, paintOf(false)).trimEnd().split("\n"),
    },
  ]);
});

it("docs/commands.md has each state of a revision", () => {
  const text = readFileSync(new URL("../../../docs/commands.md", import.meta.url), "utf8");
  for (const [state, means] of Object.entries(revisionStates)) {
    const words = state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    expect(text).toContain(`| \`${words}\` | ${means} |\n`);
  }
});
