import { isDnsLabel } from "../../rollout/dns-name.ts";
import { text } from "./flag-types.ts";

/** The flag that says in which namespace the named objects are. */
export const namespaceFlag = text({
  group: "Workloads",
  short: "n",
  placeholder: "NAME",
  form: isDnsLabel,
  allowed: "a name of lower-case letters, digits and dashes",
  shownDefault: "the context's, else default",
  help: "Namespace of the workloads.",
});
