import { expect, it } from "vitest";
import type { StoredTemplateSource } from "../../cache/workloads/workload-reads.ts";
import { parseRequestedKind, type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { type OverlaidTemplateSources, templateSourceKey, withSourceTemplates } from "./desired-objects.ts";

const row = requestedKindRow(parseRequestedKind("rollouts.argoproj.io") as RequestedKind, {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Rollout",
});

const deployment = (name: string, image: string) =>
  ({
    metadata: { name },
    spec: { template: { spec: { containers: [{ name: "web", image }] } } },
  }) as StoredTemplateSource;

const rollout = (templateSource: string) =>
  ({
    metadata: { name: "web", namespace: "shop" },
    spec: { workloadRef: { apiVersion: "apps/v1", kind: "Deployment", name: templateSource } },
  }) as unknown as WorkloadObject;

/** Returns the images of the pod templates, and the Deployments that were read for them. */
async function resolved(
  before: WorkloadObject | undefined,
  after: WorkloadObject,
  templateSources: OverlaidTemplateSources = new Map(),
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
    [templateSourceKey("shop", "a"), { before: deployment("a", "a:1"), after: deployment("a", "a:2") }],
    [templateSourceKey("shop", "new"), { before: undefined, after: deployment("new", "new:1") }],
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
