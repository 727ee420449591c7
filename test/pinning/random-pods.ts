import fc from "fast-check";
import type { PodSpec } from "#kubernetes";

const long = "l".repeat(253);
const goodName = fc.constantFrom("web", "page", "gone", "live", "web-0123456789", "kube-root-ca.crt", "a.b", long);
const name = fc.oneof({ weight: 60, arbitrary: goodName }, { weight: 1, arbitrary: fc.constantFrom("X", "") });
const optional = fc.option(fc.boolean(), { nil: undefined });
const reference = fc.record({ name, optional });
const keyReference = fc.record({ name, optional, key: fc.constantFrom("k", "other") });

const variable = fc.oneof(
  fc.record({ name: fc.constantFrom("A", "B"), value: fc.constantFrom("web", "") }),
  fc.record({ name: fc.constantFrom("A", "B"), valueFrom: fc.record({ configMapKeyRef: keyReference }) }),
  fc.record({ name: fc.constant("S"), valueFrom: fc.record({ secretKeyRef: keyReference }) }),
);
const from = fc.oneof(
  fc.record({ configMapRef: reference, prefix: fc.constantFrom("P_", "") }),
  fc.record({ secretRef: reference }),
);
const source = fc.oneof(
  fc.record({ configMap: reference }),
  fc.record({ secret: reference }),
  fc.constant({ serviceAccountToken: { path: "t" } }),
);
const volume = fc.oneof(
  fc.record({ configMap: reference }),
  fc.record({ projected: fc.record({ sources: fc.option(fc.array(source, { maxLength: 3 })) }) }),
  fc.constant({ emptyDir: {} }),
);

const containers = (prefix: string, minLength: number) =>
  fc
    .array(fc.record({ env: fc.array(variable, { maxLength: 5 }), envFrom: fc.array(from, { maxLength: 4 }) }), {
      minLength,
      maxLength: 3,
    })
    .map((list) => list.map((fields, i) => ({ name: `${prefix}${i}`, image: "app", ...fields })));

/** Pods that read ConfigMaps in all ways. Some have names that the API server rejects. */
export const randomPodSpec: fc.Arbitrary<PodSpec> = fc
  .record({
    containers: containers("c", 1),
    initContainers: containers("i", 0),
    volumes: fc.array(volume, { maxLength: 4 }).map((list) => list.map((fields, i) => ({ name: `v${i}`, ...fields }))),
  })
  // The API server writes an empty list of sources as null.
  .map((spec) => JSON.parse(JSON.stringify({ ...spec, automountServiceAccountToken: false })) as PodSpec);

const goodPin = fc.constantFrom(
  "web=web-0123456789",
  "page=page-0123456789abcdef0123",
  "gone=gone-0123456789",
  "kube-root-ca.crt=kube-root-ca.crt-0123456789",
  "a.b=a.b-00000000ff",
  `${long}=${long.slice(0, 242)}-0123456789`,
);
const badPin = fc.constantFrom(
  "",
  "web",
  "web=page-0123456789",
  "X=X-0123456789",
  "web-0123456789=web-0123456789-0123456789",
);

/** Annotations with pins. One of ten has a part that may be malformed. Sources may be there twice. */
export const randomPins: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 30, arbitrary: goodPin }, { weight: 1, arbitrary: badPin }), { minLength: 1, maxLength: 5 })
  .map((pins) => pins.join(","));
