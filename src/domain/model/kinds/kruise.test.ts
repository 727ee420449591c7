import { describe, expect, it } from "vitest";
import { workloadObject } from "../../../../test/support/domain/objects.ts";
import { toWorkload } from "../workload.ts";
import { parseRequestedKind, requestedKindRow } from "./requested-kind.ts";

/** What is wrong with an opted-in object of a kind of OpenKruise that reads a ConfigMap. */
function mistakes(id: string, spec: object, env: readonly object[] = [], reads = true) {
  const wanted = parseRequestedKind(id);
  if (wanted === undefined) throw new Error(`${id} cannot be named`);
  const row = requestedKindRow(wanted, { apiVersion: "apps.kruise.io/v1beta1", kind: "Any" });
  const envFrom = reads ? [{ configMapRef: { name: "page" } }] : [];
  const containers = [{ name: "web", env, envFrom }] as never;
  return toWorkload(row, workloadObject({ spec: { ...spec }, pod: { containers } })).mistakes.map(
    ({ message }) => message,
  );
}

describe.for([
  ["clonesets.apps.kruise.io", (type: string) => ({ updateStrategy: { type } })],
  [
    "statefulsets.apps.kruise.io",
    (podUpdatePolicy: string) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy } } }),
  ],
] as const)("%s updated in place", ([id, updating]) => {
  const fieldPath = "metadata.annotations['wave.pusher.com/config-hash']";
  const hash = { name: "HASH", valueFrom: { fieldRef: { fieldPath } } };

  it.each(["InPlaceIfPossible", "InPlaceOnly"])(
    "with %s causes a warning that Pods keep the old configuration",
    (policy) => {
      expect(mistakes(id, updating(policy))).toEqual([
        `Update policy ${policy} restarts no container, so Pods keep the old configuration. Use ReCreate, or add ${fieldPath} to the environment with a fieldRef.`,
      ]);
    },
  );

  it("causes no warning if a container reads the hash, if it reads no configuration, or if Pods are recreated", () => {
    expect(mistakes(id, updating("InPlaceIfPossible"), [{ name: "A", value: "1" }, hash])).toEqual([]);
    expect(mistakes(id, updating("InPlaceIfPossible"), [], false)).toEqual([]);
    expect(mistakes(id, updating("ReCreate"))).toEqual([]);
    expect(mistakes(id, {})).toEqual([]);
  });
});
