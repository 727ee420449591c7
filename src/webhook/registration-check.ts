import type { Logger } from "../telemetry/logging/log.ts";
import { logMessages } from "../telemetry/logging/log-messages.ts";
import type { Registration, RegistrationState, WebhookServiceName } from "./certificates/registration.ts";

/** Why the API server does not call Wave through an installed registration. */
type RegistrationProblem = "missing" | "otherService";

/**
 * Returns the same registration, which logs a warning when the API server cannot call Wave through it, and a line when it can
 * again. Each problem is logged once. Without the warning the webhook would run without effect, and no line would say why.
 */
export function warnIfNotRegistered(
  registration: Registration,
  { namespace, name }: WebhookServiceName,
  log: Logger,
): Registration {
  const fields = { configuration: registration.name, service: `${namespace}/${name}` };
  let logged: RegistrationProblem | undefined;
  const report = (problem: RegistrationProblem | undefined) => {
    switch (problem) {
      case "missing":
        return log.warn(logMessages.webhookUnregistered, fields);
      case "otherService":
        return log.warn(logMessages.webhookElsewhere, fields);
      case undefined:
        return log.info("the MutatingWebhookConfiguration names the webhook again", fields);
    }
  };
  return {
    ...registration,
    async read(signal) {
      const state = await registration.read(signal);
      const problem = problemOf(state);
      if (problem !== logged) report(problem);
      logged = problem;
      return state;
    },
  };
}

function problemOf(state: RegistrationState | undefined): RegistrationProblem | undefined {
  if (state === undefined) return "missing";
  return state.webhookCount > 0 ? undefined : "otherService";
}
