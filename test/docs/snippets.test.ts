import { globSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, missingControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import { defineOthersKinds, type PlayedOperators, playOperators } from "../recipes/operators.ts";
import { fencesOf, indentedCommands, otherTestOf, otherTestOfBlock, reasonNotToRun, root } from "./fences.ts";
import { playKubelet } from "./played-kubelet.ts";
import { Scene } from "./scene.ts";

const pages = [
  ...globSync("{docs,contributing}/*.md", { cwd: root }),
  "README.md",
  "CONTRIBUTING.md",
  "deploy/chart/README.md",
].sort();

/** The languages that a block may have. `text` is for drawings, and for text that no reader types. */
const languages = ["sh", "console", "yaml", "json", "text", "promql"];

describe.for(pages)("the blocks of %s", (page) => {
  it("have a language that is tested, and give a reason if they are not run", () => {
    for (const fence of fencesOf(page)) {
      expect(languages, fence.at).toContain(fence.language);
      if (
        otherTestOf(page) === undefined &&
        fence.info !== "" &&
        !["values", "fragment", "file", "starts"].includes(fence.info)
      )
        expect(reasonNotToRun(fence) ?? otherTestOfBlock(fence), fence.at).toBeDefined();
    }
  });

  it("are fenced, because a block that is only indented would not be tested", () => {
    expect(indentedCommands(page)).toEqual([]);
  });
});

const isFollowed = (page: string) =>
  otherTestOf(page) === undefined &&
  fencesOf(page).some(
    (fence) => ["sh", "console", "yaml", "json"].includes(fence.language) && reasonNotToRun(fence) === undefined,
  );

const left = missingControlPlane();
describe.skipIf(left !== undefined)("a reader who follows a page on a real control plane", () => {
  let controlPlane: ControlPlane;
  let cluster: Cluster;
  let operators: PlayedOperators;
  let wave: WaveProcess;
  let kubelet: AsyncDisposable;
  beforeEach(async () => {
    // A control plane for each page: pages install cluster-wide objects, and name namespaces that other pages would share.
    controlPlane = await startControlPlane();
    cluster = connect(controlPlane);
    await defineOthersKinds(cluster);
    operators = playOperators(cluster);
    wave = await startWave(["--kubeconfig", controlPlane.kubeconfig, "--soak=1s"], { paced: true });
    // The logs of the Pods of Wave show the log of this Wave.
    kubelet = await playKubelet(cluster, wave.log);
  });
  afterEach(async () => {
    await wave?.stop();
    await kubelet?.[Symbol.asyncDispose]();
    await operators?.[Symbol.asyncDispose]();
    cluster?.close();
    await controlPlane?.stop();
  });

  it.for(pages.filter(isFollowed))("gets the result that each block of %s shows", async (page) => {
    const scene = new Scene(page, controlPlane.kubeconfig);
    try {
      await scene.begin();
      for (const fence of fencesOf(page)) await scene.follow(fence);
    } finally {
      await scene.end();
    }
  });
});
