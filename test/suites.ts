import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { missingControlPlane } from "./control-plane/control-plane.ts";
import { missingChromium } from "./docs/chromium.ts";
import { missingTools } from "./gitops/missing-tools.ts";
import { missingPrometheus } from "./monitoring/promtool.ts";
import { missingNode } from "./node/node.ts";
import { missingReleaseTools } from "./release/registry.ts";
import { importersOf } from "./support/import-graph.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether suites with many cases run all of them: in `npm run test:all`, or if the path of a file is given. */
    everything: boolean;
  }
}

/** What suites need of a machine: how to find out whether it is there, the command that installs it, and what that takes. */
export const tools = {
  "control plane": { missing: missingControlPlane, install: "npm run control-plane", takes: "Go, 5 minutes" },
  "GitOps libraries": { missing: missingTools, install: "test/gitops/install", takes: "Go, 3 minutes" },
  Prometheus: { missing: missingPrometheus, install: "test/monitoring/install", takes: "Debian, root" },
  Chromium: { missing: missingChromium, install: "test/docs/install", takes: "Debian, root" },
  node: { missing: missingNode, install: "test/node/install", takes: "Debian, root, Go, 2 minutes" },
  "release tools": {
    missing: missingReleaseTools,
    install: "release/install && test/release/install",
    takes: "Debian, root, Go, 3 minutes",
  },
} as const satisfies Record<string, Tool>;

interface Tool {
  /** Returns undefined if it is installed, otherwise one line with what is missing. */
  readonly missing: () => string | undefined;
  readonly install: string;
  readonly takes: string;
}

/** The name of something that suites need. */
export type ToolName = keyof typeof tools;

/** The files of tests with the same properties. */
export interface Suite {
  readonly files: string;
  /** `test`: a part of `npm test`. `all`: only `npm run test:all`, and `.ci/run` in turn or if a change can affect it. */
  readonly tier: "test" | "all";
  /** Without these tools the files are left out. */
  readonly needs: readonly ToolName[];
  /** Without these tools some tests of the files are left out. */
  readonly uses: readonly ToolName[];
  /** Beside the folder of the suite, the paths whose changes can affect it. */
  readonly of: readonly string[];
}

const plane: readonly ToolName[] = ["control plane"];

function test(files: string, needs: readonly ToolName[] = [], uses: readonly ToolName[] = []): Suite {
  return { files, tier: "test", needs, uses, of: [] };
}

function all(files: string, of: readonly string[], needs = plane, uses: readonly ToolName[] = []): Suite {
  return { files, tier: "all", needs, uses, of };
}

const webhooks = ["src/webhook/**", "src/controllers/pending-pods/**", "deploy/chart/templates/**"];
const pinning = ["src/pinning/**", "src/domain/pinning/**", "src/controllers/pinned-copies/**", "src/webhook/**"];
const pacing = ["src/domain/pacing/**", "src/controllers/rollout/**"];
const kinds = ["src/domain/model/**", "src/cache/workloads/**", "src/kube/**"];
const images = ["deploy/**", "bin/**", "release/**", "package-lock.json", "src/main.ts", "src/controller.ts"];

/**
 * Every suite: the first row whose `files` match a file is its row. The order of the rows is the order of the run, the longest first, so
 * that no worker waits for a long file at the end.
 */
export const suites: readonly Suite[] = [
  all("test/release/release.test.ts", images, ["control plane", "node", "release tools"]),
  all("test/node/**", [...images, "test/pinning/**"], ["control plane", "node"]),
  all("test/docs/snippets.test.ts", ["docs/**", "contributing/*.md", "*.md", "deploy/chart/README.md", "src/cli/**"]),
  all("test/docs/walks.test.ts", ["docs/**", "contributing/*.md", "*.md", "src/cli/**"]),
  all("test/docs/site.test.ts", ["docs/**", "contributing/**", "*.md", "site/**"], [], ["Chromium"]),
  all(
    "test/pacing/{batches,flapping,held-state,many-pods,mixed-*,permissions,restarts,stuck,validator}.test.ts",
    pacing,
  ),
  all("test/monitoring/gate.test.ts", pacing, ["control plane", "Prometheus"]),
  all("test/pinning/{scenarios,scenarios-*,return-later,unpinned-pods,validator}.test.ts", [...pinning, ...pacing]),
  all("test/pinning/{collection,commands,many-revisions,return,uninstall}.test.ts", pinning),
  all("test/hostile/{admission,full-namespaces,memory,objects,values-in-memory}.test.ts", [
    "src/runtime/**",
    "src/cache/**",
    "src/kube/**",
    ...webhooks,
  ]),
  all("test/deploy/{install,permissions,uninstall}.test.ts", ["deploy/**", "src/manager/**"]),
  all("test/high-availability/chaos.test.ts", ["src/manager/**", "src/runtime/**", "src/kube/**"]),
  all("test/faults/faults.test.ts", ["src/kube/**", "src/cache/**", "src/controllers/**"]),
  all("test/admission/{rotation,tools,client-certificate,undo}.test.ts", webhooks),
  all("test/csi/rotations.test.ts", ["src/cache/**", "src/domain/references/**", "src/controllers/rollout/**"]),
  all("test/kinds/{batches,borrowed-template,kinds,pinned-rollouts}.test.ts", [...kinds, ...pacing]),
  all("test/end-to-end/{diff,doctor}.test.ts", ["src/cli/**"]),
  all("test/end-to-end/verdict.test.ts", ["src/cli/**", "src/domain/plan/**", "src/controllers/rollout/**"]),
  all("test/ui/demo.test.ts", ["ui/**", "src/cli/**"], ["Chromium"]),
  all("test/on-call/**", ["docs/on-call.md", "src/cli/**", ...pacing]),
  all(
    "test/gitops/{drift,pinned-drift}.test.ts",
    [...pinning, "src/domain/patch/**"],
    ["control plane", "GitOps libraries"],
  ),
  all("test/migration/reloader-charts.test.ts", ["src/cli/migrate/**", "src/domain/compatibility/**"]),
  all("test/simulation/more-seeds.test.ts", ["src/**", "sandbox/**"], []),
  test("test/simulation/{fixed,new}-seeds.test.ts"),
  test("test/monitoring/prometheus.test.ts", plane, ["Prometheus"]),
  test("test/gitops/health.test.ts", ["GitOps libraries"]),
  test("test/gitops/**", ["control plane", "GitOps libraries"]),
  test(
    "test/{admission,credentials,csi,end-to-end,evidence,hostile,kinds,migration,owner-references,pacing,pinning,recipes}/**",
    plane,
  ),
  test("test/deploy/image.test.ts"),
  test("test/deploy/**", plane),
  test("test/high-availability/lease.test.ts", plane),
  test("test/monitoring/{catalogue,unreachable}.test.ts", plane),
  test("test/conformance/**", [], plane),
  test("test/monitoring/alerts.test.ts", ["Prometheus"]),
  test("test/ui/**", ["Chromium"]),
  test("test/{action,docs,faults,high-availability,monitoring,mutants,release,simulation}/**"),
  test("test/*.test.ts"),
  test("{src,sandbox,ui}/**"),
];

/** Returns the position of the row of a file in {@link suites}. Throws if there is none. */
export function rowOf(file: string): number {
  const row = suites.findIndex(({ files }) => matchesGlob(file, files));
  if (row === -1) throw new Error(`${file} matches no row of test/suites.ts: add one`);
  return row;
}

/** Returns the row of a file. Throws if there is none. */
export function suiteOf(file: string): Suite {
  return suites[rowOf(file)] as Suite;
}

/** Returns the files of all tests, in alphabetical order. */
export function testFiles(): readonly string[] {
  return globSync(["{src,sandbox,test}/**/*.test.ts", "ui/src/**/*.test.{ts,tsx}"]).sort();
}

/** Returns the tools that this machine does not have. */
export function missingOnes(): ReadonlySet<ToolName> {
  const names = Object.keys(tools) as ToolName[];
  return new Set(names.filter((name) => tools[name].missing() !== undefined));
}

/** Returns the table of files that a run leaves out, with the command that runs or installs them; undefined if there are none. */
export function leftOut(files: readonly string[], run: ReadonlySet<string>, missing: ReadonlySet<ToolName>) {
  const without = (name: ToolName, column: "needs" | "uses") =>
    files.filter((file) => suiteOf(file)[column].includes(name)).length;
  const rows = [...missing].map((name) => {
    const { install, takes } = tools[name];
    const parts = without(name, "uses");
    return [name, `${without(name, "needs")} files${parts > 0 ? `, parts of ${parts}` : ""}`, `${install} (${takes})`];
  });
  const slow = files.filter((file) => !run.has(file) && suiteOf(file).needs.every((name) => !missing.has(name)));
  if (slow.length > 0) rows.push(["", `${slow.length} files`, "npm run test:all"]);
  if (rows.length === 0) return undefined;
  const table = [["MISSING", "LEFT OUT", "RUN"], ...rows];
  const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ")).join("\n");
}

/** The largest number of imports from a test to a change that `npm test -- --changed` follows between folders. */
const longestChain = 2;

/**
 * Returns the files of quick tests that load one of the `changed` files. `npm test -- --changed` runs `near`: tests of the same folder, of
 * the docs, and those with few imports to the change. `far` are the others.
 */
export function affectedBy(changed: readonly string[]): { near: readonly string[]; far: readonly string[] } {
  const folderOf = (file: string) => file.split("/").slice(0, 3).join("/");
  const folders = new Set(changed.map(folderOf));
  const distances = importersOf(changed);
  const affected = testFiles().filter((file) => {
    const { tier, needs, uses } = suiteOf(file);
    const isQuick = tier === "test" && needs.length === 0 && uses.length === 0 && !file.includes("-seeds.test.ts");
    return isQuick && distances.has(file);
  });
  const { near = [], far = [] } = Object.groupBy(affected, (file) =>
    (distances.get(file) ?? 0) <= longestChain || folders.has(folderOf(file)) || file.startsWith("test/docs/")
      ? "near"
      : "far",
  );
  return { near, far };
}

/** The number of commits in which each file of the tier `all` runs at least once. */
const turns = 5;

/** Returns the files of the tier `all` that `.ci/run` adds to `npm test`: those that `changed` can affect, and a fifth by the commit. */
export function alsoInCi(changed: readonly string[], commit: number): readonly string[] {
  const rest = testFiles().filter((file) => suiteOf(file).tier === "all");
  return rest.filter((file, index) => {
    const own = `${file.split("/").slice(0, 2).join("/")}/**`;
    const { of } = suiteOf(file);
    return (
      index % turns === commit % turns || [own, ...of].some((glob) => changed.some((path) => matchesGlob(path, glob)))
    );
  });
}
