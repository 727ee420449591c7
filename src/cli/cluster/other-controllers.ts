import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Compatibility } from "../../domain/compatibility/settings.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listAll } from "./list-all.ts";
import { type ReadFailure, toReadFailure, inScope } from "./read-result.ts";

/** A controller that rolls workloads for their configuration too: beside it, both would. */
export interface OtherController {
  readonly controller: string;
  /** Whose annotations it reads. */
  readonly compatibility: Compatibility;
  readonly namespace: string;
  readonly name: string;
  /** How many replicas it is to have. */
  readonly replicas: number;
}

/** By the last part of the name of its image. */
const images: Readonly<Record<string, Pick<OtherController, "controller" | "compatibility">>> = {
  reloader: { controller: "Stakater's Reloader", compatibility: "stakater" },
  "pod-reloader": { controller: "SAP's pod-reloader", compatibility: "sap" },
  wave: { controller: "Wave", compatibility: "wave" },
};

/**
 * The controllers in the cluster, or in one namespace, that roll workloads for their configuration: Deployments by the name of
 * their image. Why it is not known instead, where they may not be listed.
 */
export async function otherControllers(
  client: ApiClient,
  namespace: string | undefined,
): Promise<readonly OtherController[] | ReadFailure> {
  try {
    return await listAll<KubeObject & Deployment, OtherController>(
      client,
      resources.deployments,
      { namespace },
      (object) => {
        const controller = controllerOf(object);
        const { namespace: where = "", name } = object.metadata;
        if (controller === undefined) return undefined;
        return { ...controller, namespace: where, name, replicas: object.spec?.replicas ?? 1 };
      },
    );
  } catch (error) {
    return toReadFailure(`list deployments ${inScope(namespace)}`, error);
  }
}

function controllerOf({ spec }: Deployment): Pick<OtherController, "controller" | "compatibility"> | undefined {
  for (const { image = "" } of spec?.template.spec?.containers ?? []) {
    const name = image.replace(/@.*$/, "").replace(/^.*\//, "").replace(/:.*$/, "");
    if (Object.hasOwn(images, name)) return images[name];
  }
  return undefined;
}
