import type { Deployment } from "#kubernetes";
import type { Compatibility } from "../../../domain/compatibility/directive.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type ReadResult, tryList } from "../requests.ts";
import type { RunningWaves } from "./running-wave.ts";

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

/** Lists the Deployments of known controllers, Wave in Go included, by the image names of their containers. Leaves out those of `waves`. */
export function otherControllers(
  client: ApiClient,
  waves: RunningWaves,
): Promise<ReadResult<readonly OtherController[]>> {
  const own = "unread" in waves ? [] : waves;
  return tryList(client, resources.deployments, {}, ({ metadata, spec }: KubeObject & Deployment) => {
    const { namespace = "", name } = metadata;
    if (own.some((wave) => wave.namespace === namespace && wave.name === name)) return undefined;
    const controller = controllerOf(spec);
    return controller && { ...controller, namespace, name, replicas: spec?.replicas ?? 1 };
  });
}

function controllerOf(spec: Deployment["spec"]): Pick<OtherController, "controller" | "compatibility"> | undefined {
  for (const { image = "" } of spec?.template.spec?.containers ?? []) {
    const name = image.replace(/@.*$/, "").replace(/^.*\//, "").replace(/:.*$/, "");
    if (Object.hasOwn(images, name)) return images[name];
  }
  return undefined;
}
