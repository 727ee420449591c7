import { ProviderClasses } from "../../../cache/configs/mounted-classes.ts";
import type { Config } from "../../../domain/config/digest.ts";
import { type PodStatusObject, toPodStatus } from "../../../domain/config/pod-status.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { isNotFound } from "../../../kube/api/errors.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../requests/list-all.ts";

/**
 * Reads the object versions that SecretProviderClasses of a namespace have fetched, from the status objects of Pods. Returns an empty list
 * if the CSI driver is not installed. Rejects if the status objects cannot be read.
 */
export async function readProviderClasses(client: ApiClient, namespace: string): Promise<readonly Config[]> {
  const classes = new ProviderClasses(() => {});
  const take = (object: KubeObject & PodStatusObject) => {
    classes.update({ before: undefined, after: toPodStatus(object, Date.now() / 1000), initial: true });
    return undefined;
  };
  try {
    await listAll(client, resources.secretProviderClassPodStatuses, { namespace }, take);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return [...classes.valuesIn(namespace)];
}
