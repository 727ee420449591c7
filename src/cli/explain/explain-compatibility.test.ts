import { afterAll, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());
const namespace = "compatibility";
const scene = commandScene(sandbox, namespace);

it("shows the stored objects that a regular expression matches, and the objects of an annotation of SAP", async () => {
  await scene.createNamespace(namespace);
  for (const name of ["app-1", "app-2", "other"]) await scene.createConfigMap(name, "1");
  await scene.createWorkload("deployments/web", {
    annotations: {
      "wave.pusher.com/update-on-config-change": undefined,
      "configmap.reloader.stakater.com/reload": "app-.*",
      "pod-reloader.cs.sap.com/configmaps": "none",
    },
  });
  const { optIn, references } = await scene.explained("deployments/web", "--compatibility=wave,sap,stakater");
  expect(optIn).toBe("in");
  expect(references.map(({ name, state, path }) => ({ name, state, path }))).toEqual([
    { name: "none", state: "absent", path: "metadata.annotations[pod-reloader.cs.sap.com/configmaps]" },
    { name: "app-1", state: "present", path: "metadata.annotations[configmap.reloader.stakater.com/reload]" },
    { name: "app-2", state: "present", path: "metadata.annotations[configmap.reloader.stakater.com/reload]" },
  ]);
  const { optIn: alone } = await scene.explained("deployments/web");
  expect(alone).toBe("out");
});
