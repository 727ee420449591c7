import type { Logger } from "../telemetry/logging/log.ts";
import type { Registered, Registration, ServiceName } from "./certificates/registration.ts";

/**
 * The same installed registration; each time that the API server stops to call Wave through it, or is found not to, a
 * warning says so and what to do. Without it admission would be on and do nothing, and nobody would know why.
 */
export function warnWhereNotCalled(registration: Registration, service: ServiceName, log: Logger): Registration {
  let told: string | undefined;
  return {
    ...registration,
    async read(signal) {
      const registered = await registration.read(signal);
      const problem = whyNotCalled(registered, registration.name, service);
      if (problem !== undefined && problem !== told) log.warn(problem);
      else if (problem === undefined && told !== undefined) {
        log.info("the API server calls the webhook now", { configuration: registration.name });
      }
      told = problem;
      return registered;
    },
  };
}

function whyNotCalled(registered: Registered | undefined, name: string, service: ServiceName): string | undefined {
  const effect = "so the API server asks Wave about no workload";
  if (registered === undefined) {
    return `there is no MutatingWebhookConfiguration "${name}", ${effect}: install it, or name yours by --webhook-service-name; outside the cluster set --webhook-url`;
  }
  if (registered.callers > 0) return undefined;
  return `MutatingWebhookConfiguration "${name}" has no webhook for the Service "${service.name}" in namespace "${service.namespace}", ${effect}: correct its clientConfig.service`;
}
