import type { Deployment } from "#kubernetes";
import type { Compatibility } from "../../../domain/compatibility/directive.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { inScope, listAll, type ReadFailure, toReadFailure } from "../requests.ts";

/** Another controller that rolls workloads when their configuration changes. Together with Wave, a workload could roll twice. */
export interface OtherController {
  readonly controller: string;
  /** The annotations that the controller reads. */
  readonly compatibility: Compatibility;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

/** The known controllers, by the last part of their image name. */
const images: Readonly<Record<string, Pick<OtherController, "controller" | "compatibility">>> = {
  reloader: { controller: "Stakater Reloader", compatibility: "stakater" },
  "pod-reloader": { controller: "SAP pod-reloader", compatibility: "sap" },
  wave: { controller: "Wave", compatibility: "wave" },
};

/**
 * Lists the Deployments of known controllers, Wave included, by the image name of their containers. `namespace` undefined means all
 * namespaces. Returns a {@link ReadFailure} if Deployments cannot be listed.
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
