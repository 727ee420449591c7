import { expect, it } from "vitest";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { desiredObjects } from "./desired-objects.ts";
import { parseManifests } from "./manifests/parse-manifests.ts";
import { overlayManifests } from "./overlay.ts";

const cronJobs = requestedKindRow(parseRequestedKind("cronjobs.batch") as RequestedKind, {
  apiVersion: "batch/v1",
  kind: "CronJob",
});

const podTemplate = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image }] },
});

/** Reports whether a new image makes Kubernetes replace Pods. */
async function changesTemplate(row: WorkloadRow, kind: string, apiVersion: string, specOf: (image: string) => object) {
  const object = (image: string) => ({
    apiVersion,
    kind,
    metadata: { name: "web", namespace: "shop" },
    spec: specOf(image),
  });
  const text = JSON.stringify(object("nginx:2"));
  const manifests = await parseManifests([{ name: "web.json", text }]);
  const wanted = desiredObjects(manifests, [row], { namespace: "shop", given: false });
  const client = { request: async () => structuredClone(object("nginx:1")) } as unknown as ApiClient;
  const { workloads } = await overlayManifests(client, wanted, { compatibility: undefined }, 0);
  return workloads.map((each) => each.changesTemplate);
}

it("a changed pod template replaces the Pods of a Deployment, but not of a CronJob", async () => {
  const template = (image: string) => ({ template: podTemplate(image) });
  expect(await changesTemplate(kinds.Deployment, "Deployment", "apps/v1", template)).toEqual([true]);
  const jobTemplate = (image: string) => ({ jobTemplate: { spec: template(image) } });
  expect(await changesTemplate(cronJobs, "CronJob", "batch/v1", jobTemplate)).toEqual([false]);
});
