import { beforeEach, expect, it } from "vitest";
import { FinalizerSweeps } from "./finalizer-sweeps.ts";

const [namespace, key, text] = ["default", "Deployment/default/web", "Deployment/default/web uid-1"];
let sweeps: FinalizerSweeps;
beforeEach(() => {
  sweeps = new FinalizerSweeps();
});

it("uses the result of a sweep for one finalizer only", () => {
  expect(sweeps.request(namespace, key, text)).toBe("requested");
  sweeps.start(namespace);
  sweeps.markClear(key, text);
  expect(sweeps.request(namespace, key, text)).toBe("clear");
  sweeps.forget(key);
  expect(sweeps.request(namespace, key, text)).toBe("requested");
});

it("drops the result if something happens to the workload during the sweep", () => {
  sweeps.request(namespace, key, text);
  sweeps.start(namespace);
  sweeps.forget(key);
  sweeps.markClear(key, text);
  expect(sweeps.request(namespace, key, text)).toBe("requested");
});

it("does not use the result for another workload of the same name", () => {
  sweeps.request(namespace, key, text);
  sweeps.start(namespace);
  sweeps.markClear(key, text);
  expect(sweeps.request(namespace, key, "Deployment/default/web uid-2")).toBe("requested");
});

it("frees a workload when all of its objects are written, each once", () => {
  sweeps.request(namespace, key, text);
  sweeps.start(namespace);
  sweeps.wait(key, ["ConfigMap/default/a", "ConfigMap/default/b", "ConfigMap/default/a"]);
  expect(sweeps.request(namespace, key, text)).toBe("waits");
  expect(sweeps.objectDone("ConfigMap/default/a")).toEqual([]);
  expect(sweeps.objectDone("ConfigMap/default/a")).toEqual([]);
  expect(sweeps.isAwaited("ConfigMap/default/b")).toBe(true);
  expect(sweeps.objectDone("ConfigMap/default/b")).toEqual([key]);
  expect(sweeps.request(namespace, key, text)).toBe("requested");
});
