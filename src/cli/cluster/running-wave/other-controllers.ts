import type { Deployment } from "#kubernetes";
import type { Compatibility } from "../../../domain/compatibility/directive.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type ReadFailure, tryList } from "../requests.ts";

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

/** Lists the Deployments of known controllers, Wave included, by the image names of their containers. */
export async function otherControllers(client: ApiClient): Promise<readonly OtherController[] | ReadFailure> {
  const found = await tryList(client, resources.deployments, {}, ({ metadata, spec }: KubeObject & Deployment) => {
    const controller = controllerOf(spec);
    const { namespace = "", name } = metadata;
    return controller && { ...controller, namespace, name, replicas: spec?.replicas ?? 1 };
  });
  return "read" in found ? found.read : found;
}

function controllerOf(spec: Deployment["spec"]): Pick<OtherController, "controller" | "compatibility"> | undefined {
  for (const { image = "" } of spec?.template.spec?.containers ?? []) {
    const name = image.replace(/@.*$/, "").replace(/^.*\//, "").replace(/:.*$/, "");
    if (Object.hasOwn(images, name)) return images[name];
  }
  return undefined;
}
