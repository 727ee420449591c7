import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, missingControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { type Replica, startReplica } from "../deploy/installed.ts";
import { defineOthersKinds } from "../recipes/operators.ts";
import { reasonNotToRun, root } from "./fences.ts";
import { Scene } from "./scene.ts";
import { type Place, readWalk, type Step, textOf, typedIn } from "./walk.ts";

const walks = readdirSync(join(import.meta.dirname, "walks"))
  .filter((file) => file.endsWith(".md"))
  .sort()
  .map((file) => readWalk(file));

/** Returns the steps of a walk, each with the place where the person reads at that time. */
function placed(steps: readonly Step[]): readonly { readonly step: Step; readonly place: Place }[] {
  let place: Place = { page: "README.md", anchor: undefined };
  return steps.map((step) => {
    if (step.does === "reads") place = step.place;
    return { step, place };
  });
}

/** Returns the pages that a page links to, as paths from the root of the repository. */
function linksOf(page: string): readonly string[] {
  const text = textOf({ page, anchor: undefined });
  const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target ?? "");
  return targets.map((target) =>
    target.startsWith("/") ? target.slice(1) : relative(root, resolve(root, dirname(page), target)),
  );
}

it("five people have a walk, each from the first page to the goal", () => {
  expect(walks.map(({ steps }) => steps.length > 8)).toEqual([true, true, true, true, true]);
});

describe.for(walks)("the way of: $title", ({ steps }) => {
  it("has each sentence under the heading where the person looks for it", () => {
    for (const step of steps)
      if (step.does === "reads") expect(textOf(step.place), JSON.stringify(step.place)).toContain(step.text);
  });

  it("has a link from each page to the next, or both are in the sidebar", () => {
    const sidebar = readFileSync(join(root, "site/.vitepress/sections.js"), "utf8");
    const pages = placed(steps).map(({ place }) => place.page);
    for (const [index, page] of pages.entries()) {
      const next = pages[index + 1];
      if (next === undefined || next === page) continue;
      const isNear = linksOf(page).includes(next) || [page, next].every((each) => sidebar.includes(`"${each}"`));
      expect(isNear, `${page} → ${next}`).toBe(true);
    }
  });

  it("has each command in the section that the person reads, in a block that can be run", () => {
    for (const { step, place } of placed(steps)) {
      if (step.does !== "types") continue;
      const typed = typedIn(place, step.text);
      if (typed.type === "block") expect(reasonNotToRun(typed.fence), typed.fence.at).toBeUndefined();
    }
  });
});

const left = missingControlPlane();
describe.skipIf(left !== undefined)("on one real control plane, one after another,", () => {
  const release = { name: "wave", namespace: "wave-system" };
  let controlPlane: ControlPlane;
  let cluster: Cluster;
  let replica: Replica | undefined;
  beforeAll(async () => {
    controlPlane = await startControlPlane();
    cluster = connect(controlPlane);
    await defineOthersKinds(cluster);
  });
  afterAll(async () => {
    await replica?.stop("SIGKILL");
    cluster?.close();
    await controlPlane?.stop();
  });

  /** Takes the steps of a person in order. */
  async function follow(scene: Scene, steps: readonly Step[]): Promise<void> {
    for (const [index, { step, place }] of placed(steps).entries()) {
      const next = steps.slice(index + 1);
      const end = next.findIndex(({ does }) => does !== "sees");
      const sees = next.slice(0, end === -1 ? undefined : end).map(({ text }) => text);
      if (step.does === "happens") await scene.run(step.text, step.text);
      if (step.does !== "types") continue;
      const typed = typedIn(place, step.text);
      if (typed.type === "command") await scene.type(typed.command, typed.output, typed.at, sees);
      else {
        const printed = await scene.follow(typed.fence);
        for (const text of sees) expect(printed, `${typed.fence.at}: ${step.text}`).toContain(text);
      }
    }
  }

  it.for(walks)("walks the way of: $title", { timeout: 1_800_000 }, async ({ scene: page, steps }) => {
    const scene = new Scene(page ?? "README.md", controlPlane.kubeconfig);
    try {
      if (page !== undefined) await scene.begin();
      await follow(scene, steps);
      // The Pods of kwok run no process. After the walk that installs Wave, a process runs like their container.
      if (steps.some(({ text }) => text.startsWith("helm install")))
        replica = await startReplica(cluster, release, { paced: true });
    } finally {
      scene.close();
      await cluster.kubectl(["delete", "namespace", "shop", "--ignore-not-found", "--timeout=600s"]);
    }
  });
});
