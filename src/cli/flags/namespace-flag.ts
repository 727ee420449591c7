import { isDnsLabel } from "../../domain/syntax/dns-name.ts";
import { bool, text } from "./flag-types.ts";

/** The flag that says in which namespace the named objects are. */
export const namespaceFlag = text({
  group: "Workloads",
  short: "n",
  placeholder: "NAME",
  completes: "namespaces",
  form: isDnsLabel,
  allowed: "a name of lower-case letters, digits and dashes",
  shownDefault: "the context's, else default",
  help: "Namespace of the workloads.",
});

/** The flag that asks for the workloads of every namespace; it wins over `--namespace`, as with kubectl. */
export const allNamespacesFlag = bool({
  group: namespaceFlag.group,
  short: "A",
  default: false,
  help: "The workloads of all namespaces.",
});
