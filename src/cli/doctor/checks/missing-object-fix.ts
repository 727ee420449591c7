import type { Missing } from "../../../domain/plan/plan.ts";
import { annotationPrefix } from "../../../domain/references/annotations.ts";
import { isDnsSubdomain } from "../../../domain/syntax/dns-name.ts";
import type { Explanation } from "../../cluster/explanation/explanation.ts";
import { kubectlArguments } from "../context/finding.ts";

/** Returns the command that creates or shares the first missing object of a workload; null if nothing is missing. */
export function missingObjectFix({ missing, references, workload }: Explanation): string | null {
  const [first] = missing;
  if (first === undefined) return null;
  const { kind, namespace, name } = first;
  // A pod spec may contain any characters as a name, and the command is copied into a shell.
  if (!isDnsSubdomain(name) || !isDnsSubdomain(namespace))
    return `kubectl edit ${kubectlArguments(workload)}  # no ${kind} can have this name`;
  const elsewhere = namespace !== workload.namespace;
  const refused = references.some(
    (each) => each.state === "refused" && each.kind === kind && each.namespace === namespace && each.name === name,
  );
  if (elsewhere && refused)
    return `kubectl annotate ${kubectlArguments(first)} ${annotationPrefix}shared-with=${workload.namespace}  # once it exists`;
  return first.key === undefined ? create(first) : `kubectl edit ${kubectlArguments(first)}  # add the key`;
}

function create({ kind, namespace, name }: Missing): string {
  const what = kind === "Secret" ? "secret generic" : "configmap";
  return `kubectl create ${what} ${name} -n ${namespace} --from-file=KEY=FILE`;
}
