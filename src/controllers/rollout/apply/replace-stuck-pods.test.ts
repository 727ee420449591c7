import { expect, it } from "vitest";
import { workloadObject } from "../../../../test/support/domain/objects.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { ApiRequest } from "../../../kube/http/api-request.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { replaceStuckPods } from "./replace-stuck-pods.ts";

it("takes a write permit for each Pod, and deletes no Pod without one", async () => {
  const set = workloadObject({ kind: "StatefulSet", status: { updateRevision: "db-2", observedGeneration: 9 } });
  const workload = toWorkload(kinds.StatefulSet, set);
  const ownerReferences = [{ controller: true, uid: workload.uid }];
  let pods = ["db-0", "db-1"].map((name) => ({ metadata: { name, namespace: "default", ownerReferences } }));
  let permits = 1;
  const client = {
    request: async <T>({ method, path }: ApiRequest): Promise<T> => {
      if (method === "DELETE") pods = pods.filter(({ metadata }) => !path.endsWith(`/${metadata.name}`));
      return (path.endsWith("/pods") ? { items: pods } : set) as T;
    },
  };
  const leadership = soleLeadership(new AbortController().signal);
  const replace = () => replaceStuckPods(workload, { client, leadership }, () => permits-- > 0);
  expect(await replace()).toBe(undefined);
  expect(pods.map(({ metadata }) => metadata.name)).toEqual(["db-1"]);
  permits = 1;
  expect(await replace()).toBe(undefined);
  expect(pods).toEqual([]);
});
