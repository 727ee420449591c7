import { afterAll, beforeAll, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, kindNames, type WorkloadKind, workloadPath } from "../end-to-end/objects.ts";
import { createDice, type Dice, randomFrom } from "../simulation/dice.ts";
import { playedSeed } from "../support/played-seed.ts";
import { pointsPods } from "./pointed.ts";
import { annotate, applyPointingPolicy, createPinned, imagesOf, pagesOfReplacedPods, pagesRead } from "./scenarios.ts";
import { PinningModel, type Step } from "./scenarios-model.ts";

const ns = "pinned-random";
const pages: readonly [string, ...string[]] = ["old", "one", "two", "three"];
const images: readonly [string, ...string[]] = [container.image, "nginx:2"];
/** One step takes about half a second. */
const steps = Number(process.env.WAVE_PINNING_STEPS ?? 15);

describeOnControlPlane("pinned configuration", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true, args: ["--pin-config"] });
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it.for(kindNames)("of a %s is what a model predicts after random edits, holds and rollbacks", async (kind) => {
    const seed = playedSeed();
    const dice = createDice(randomFrom(seed));
    const name = `random-${kind.toLowerCase()}`;
    await createPinned(scene, kind, name);
    const model = new PinningModel({ page: "old", image: container.image });
    const taken: Step[] = [];
    for (let count = 0; count < steps; count++) {
      const step = nextStep(dice, model);
      taken.push(step);
      await take(scene, kind, name, step);
      model.take(step);
      const { page, image } = model.current;
      const seen = async () => ({ pages: await pagesRead(scene, name), images: await imagesOf(scene, name) });
      const story = `WAVE_SEED=${seed}: ${taken.map((each) => Object.values(each).join(" ")).join(", ")}`;
      const isPredicted = async () => {
        const { pages, images } = await seen();
        return pages.join() === page && images.join() === image ? true : undefined;
      };
      // A rollout of this step may still be in progress.
      await until(story, isPredicted, 20_000).catch(() => {});
      await scene.caughtUp();
      await rolledOut(scene, kind, name);
      expect(await seen(), story).toEqual({ pages: [page], images: [image] });
    }
  });
});

function nextStep(dice: Dice, model: PinningModel): Step {
  return dice.pick<Step>(
    { act: "edit", page: dice.pick(...pages) },
    { act: "edit", page: dice.pick(...pages) },
    { act: "image", image: dice.pick(...images) },
    { act: model.held ? "release" : "hold" },
    { act: "replace" },
    ...(model.canUndo ? [{ act: "undo" } as const, { act: "undo" } as const] : []),
  );
}

async function take(scene: Scene, kind: WorkloadKind, name: string, step: Step): Promise<void> {
  const resource = `${kind.toLowerCase()}/${name}`;
  switch (step.act) {
    case "edit":
      return await scene.namespace.edit("ConfigMap", name, { page: step.page });
    case "image": {
      const patch = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: step.image }];
      await scene.cluster.api("PATCH", workloadPath(ns, kind, name), patch, "application/json-patch+json");
      return;
    }
    case "hold":
    case "release":
      return await annotate(scene, kind, name, { "wave.pusher.com/hold": step.act === "hold" ? "true" : null });
    case "undo":
      await scene.cluster.kubectl(["-n", ns, "rollout", "undo", resource]);
      return;
    case "replace":
      await pagesOfReplacedPods(scene, name);
      return;
  }
}
