import { createHash } from "node:crypto";
import { sapLists } from "../../compatibility/sap.ts";
import type { WorkloadObject } from "../../model/workload-references.ts";
import type { LegacyDigest } from "./legacy-digest.ts";

/**
 * Computes the hash of SAP's pod-reloader: the SHA-256, as plain hexadecimal digits, of one line for each name in its
 * annotations, in their order and as written. A line contains UID and resourceVersion of the object, or nothing if the object
 * does not exist (https://github.com/SAP/pod-reloader/blob/main/internal/reloader/hash.go).
 */
export function* digestOfPodReloader({ metadata }: WorkloadObject): LegacyDigest {
  const { namespace = "", annotations = {} } = metadata ?? {};
  const sum = createHash("sha256");
  for (const { kind, annotation } of sapLists) {
    const list = annotations[annotation];
    for (const name of list ? list.split(",") : []) {
      const object = yield { kind, namespace, name };
      const { uid = "", resourceVersion = "" } = object?.metadata ?? {};
      const state = object === undefined ? "" : `${uid}.${resourceVersion}`;
      sum.update(`${kind.toLowerCase()}/${namespace}/${name}/${state}\n`);
    }
  }
  return sum.digest("hex");
}
