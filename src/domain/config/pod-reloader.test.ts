import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { workloadObject } from "../../../test/support/domain/objects.ts";
import { configKey } from "../references/references.ts";
import type { ConfigObject } from "./digest.ts";
import { digestOfPodReloader } from "./legacy-hash.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function digest(annotations: Record<string, string>, objects: Readonly<Record<string, ConfigObject>> = {}) {
  const steps = digestOfPodReloader(workloadObject({ annotations }));
  let step = steps.next();
  while (!step.done) step = steps.next(objects[configKey(step.value)]);
  return step.value;
}

it("covers UID and resourceVersion of named objects, in order, and nothing of missing objects", () => {
  const objects = {
    "ConfigMap/default/b": { metadata: { uid: "u-b", resourceVersion: "7" }, data: { a: "1" } },
    "Secret/default/s": { metadata: { uid: "u-s", resourceVersion: "9" } },
  };
  const annotations = { "pod-reloader.cs.sap.com/configmaps": "b,a", "pod-reloader.cs.sap.com/secrets": "s" };
  expect(digest(annotations, objects)).toBe(
    sha256("configmap/default/b/u-b.7\nconfigmap/default/a/\nsecret/default/s/u-s.9\n"),
  );
});

it("uses names as written, and ignores an empty list", () => {
  const annotations = { "pod-reloader.cs.sap.com/configmaps": "a, b", "pod-reloader.cs.sap.com/secrets": "" };
  expect(digest(annotations)).toBe(sha256("configmap/default/a/\nconfigmap/default/ b/\n"));
});
