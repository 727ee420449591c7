import { expect, it } from "vitest";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { desiredObjects } from "./desired-objects.ts";
import { listPairs, type Sides, withSourceTemplates } from "./list-pairs.ts";
import { parseManifests } from "./manifests/parse-manifests.ts";
import { overlayManifests } from "./overlay.ts";

const row = requestedKindRow(parseRequestedKind("rollouts.argoproj.io") as RequestedKind, {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Rollout",
});

const deployment = (name: string, image: string) =>
  ({
    metadata: { name },
    spec: { template: { spec: { containers: [{ name: "web", image }] } } },
  }) as WorkloadObject;

const rollout = (templateSource: string) =>
  ({
    metadata: { name: "web", namespace: "shop" },
    spec: { workloadRef: { apiVersion: "apps/v1", kind: "Deployment", name: templateSource } },
  }) as unknown as WorkloadObject;

/** Returns the images of the pod templates, and the Deployments that were read for them. */
async function resolved(
  before: WorkloadObject | undefined,
  after: WorkloadObject,
  templateSources: ReadonlyMap<string, Sides> = new Map(),
) {
  const read: string[] = [];
  const client = {
    request: async <T>({ path }: { readonly path: string }): Promise<T> => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      read.push(name);
      return deployment(name, `${name}:stored`) as T;
    },
  };
  const sides = await withSourceTemplates(client, row, { before, after }, templateSources);
  const images = [sides.before, sides.after].map((side) => side?.spec?.template?.spec?.containers[0]?.image);
  return { images, read };
}

it("a Deployment that is the template source before and after is read once", async () => {
  expect(await resolved(rollout("a"), rollout("a"))).toEqual({ images: ["a:stored", "a:stored"], read: ["a"] });
  expect(await resolved(rollout("a"), rollout("b"))).toEqual({ images: ["a:stored", "b:stored"], read: ["a", "b"] });
  expect(await resolved(undefined, rollout("a"))).toEqual({ images: [undefined, "a:stored"], read: ["a"] });
});

it("a Deployment of the manifests is not read: the overlay has its pod template", async () => {
  const templateSources = new Map([
    ["Deployment/shop/a", { before: deployment("a", "a:1"), after: deployment("a", "a:2") }],
    ["Deployment/shop/new", { before: undefined, after: deployment("new", "new:1") }],
  ]);
  expect(await resolved(rollout("a"), rollout("a"), templateSources)).toEqual({ images: ["a:1", "a:2"], read: [] });
  expect(await resolved(rollout("b"), rollout("new"), templateSources)).toEqual({
    images: ["b:stored", "new:1"],
    read: ["b"],
  });
  expect(await resolved(rollout("new"), rollout("new"), templateSources)).toEqual({
    images: [undefined, "new:1"],
    read: [],
  });
});

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
  const overlay = await overlayManifests(client, wanted, { compatibility: undefined }, 0);
  const { pairs } = await listPairs(client, [], { before: {}, after: {} }, overlay, []);
  return pairs.map((each) => each.changesTemplate);
}

it("a changed pod template replaces the Pods of a Deployment, but not of a CronJob", async () => {
  const template = (image: string) => ({ template: podTemplate(image) });
  expect(await changesTemplate(kinds.Deployment, "Deployment", "apps/v1", template)).toEqual([true]);
  const jobTemplate = (image: string) => ({ jobTemplate: { spec: template(image) } });
  expect(await changesTemplate(cronJobs, "CronJob", "batch/v1", jobTemplate)).toEqual([false]);
});
