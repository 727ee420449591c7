import { beforeEach, expect, it } from "vitest";
import { Looks } from "./sweeps.ts";

const [namespace, key, text] = ["default", "Deployment/default/web", "Deployment/default/web uid-1"];
let looks: Looks;
beforeEach(() => {
  looks = new Looks();
});

it("what a look has found is for one finalizer: with the next there may be references again", () => {
  expect(looks.ask(namespace, key, text)).toBe("asked");
  looks.take(namespace);
  looks.clear(key, text);
  expect(looks.ask(namespace, key, text)).toBe("clear");
  looks.forget(key);
  expect(looks.ask(namespace, key, text)).toBe("asked");
});

it("what happens to a workload while it is looked for makes the look void", () => {
  looks.ask(namespace, key, text);
  looks.take(namespace);
  looks.forget(key);
  looks.clear(key, text);
  expect(looks.ask(namespace, key, text)).toBe("asked");
});

it("another of the same name is not clear", () => {
  looks.ask(namespace, key, text);
  looks.take(namespace);
  looks.clear(key, text);
  expect(looks.ask(namespace, key, "Deployment/default/web uid-2")).toBe("asked");
});

it("who waits is free when all of its objects have been written, each counted once", () => {
  looks.ask(namespace, key, text);
  looks.take(namespace);
  looks.wait(key, ["ConfigMap/default/a", "ConfigMap/default/b", "ConfigMap/default/a"]);
  expect(looks.ask(namespace, key, text)).toBe("waits");
  expect(looks.written("ConfigMap/default/a")).toEqual([]);
  expect(looks.written("ConfigMap/default/a")).toEqual([]);
  expect(looks.isAwaited("ConfigMap/default/b")).toBe(true);
  expect(looks.written("ConfigMap/default/b")).toEqual([key]);
  expect(looks.ask(namespace, key, text)).toBe("asked");
});
