import { isDnsLabel } from "../../domain/syntax/dns-name.ts";
import { bool, text } from "./flag-types.ts";

/** The flag for the namespace of the objects. Default: the namespace of the context, as in kubectl. */
export const namespaceFlag = text({
  group: "Workloads",
  short: "n",
  placeholder: "NAME",
  completes: "namespaces",
  form: isDnsLabel,
  allowed: "a name of lower-case letters, digits and dashes",
  shownDefault: "from the context",
  help: "Namespace of the objects.",
});

/** The flag for the workloads of all namespaces. It overrides `--namespace`, as in kubectl. */
export const allNamespacesFlag = bool({
  group: namespaceFlag.group,
  short: "A",
  default: false,
  help: "All namespaces.",
});
