import { objectOf, stringOf } from "../../../sandbox/objects/json.ts";
import type { AdmissionRequest } from "../../../sandbox/registry/webhooks.ts";
import { webhookConfiguration } from "../../../src/webhook/certificates/configuration.ts";
import { widgets } from "./widgets.ts";

/** The meaning of each match condition in the registration of Wave, by name; `test/admission` checks them on a real API server. */
const meanings: Readonly<Record<string, (request: AdmissionRequest) => boolean>> = {
  "concerns-wave": ({ operation, object, oldObject }) =>
    [object, oldObject].some((each) => {
      if (each === undefined) return false;
      const { annotations = {} } = each.metadata;
      if (annotations["wave.pusher.com/scheduling-disabled"] !== undefined) return true;
      const template = objectOf(objectOf(objectOf(objectOf(each.spec).template).metadata).annotations);
      const name = "wave.pusher.com/update-on-config-change";
      const optIn = annotations[name] ?? template[name];
      if (optIn !== undefined) return optIn !== "" && optIn !== "false";
      const hashed = template["wave.pusher.com/config-hash"] !== undefined;
      const says = Object.keys(annotations).some((name) => name.startsWith("wave.pusher.com/"));
      return operation === "CREATE" || says || hashed;
    }),
  "not-by-wave": ({ options }) => stringOf(options.fieldManager) !== "wave",
};

const conditions = webhookConfiguration({
  name: "",
  clientConfig: {},
  namespaces: undefined,
  workloadKinds: widgets,
}).webhooks.flatMap(({ matchConditions = [] }) => matchConditions);

/** Throws if the registration has a condition that is not listed here. */
export function conditionOf(expression: string): (request: AdmissionRequest) => boolean {
  const name = conditions.find((condition) => condition.expression === expression)?.name ?? "";
  const meaning = meanings[name];
  if (meaning === undefined) throw new Error(`the simulation does not know what ${JSON.stringify(expression)} means`);
  return meaning;
}
