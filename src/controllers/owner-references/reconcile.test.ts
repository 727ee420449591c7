import { expect, it } from "vitest";
import { namespaceOf } from "../../domain/model/workload-shape.ts";
import { parseOwnerReferenceKey, sweepKey } from "./reconcile.ts";

it.each([
  ["Deployment/shop/web", { type: "workload" }],
  ["rollouts.argoproj.io/shop/web", { type: "workload" }],
  ["ConfigMap/shop/page", { type: "object", name: { kind: "ConfigMap", namespace: "shop", name: "page" } }],
  ["Secret/shop/db", { type: "object", name: { kind: "Secret", namespace: "shop", name: "db" } }],
  [sweepKey("shop"), { type: "sweep", namespace: "shop" }],
])("%s names %o, in the namespace of the flow", (key, parsed) => {
  expect(parseOwnerReferenceKey(key)).toEqual(parsed);
  expect(namespaceOf(key)).toBe("shop");
});
