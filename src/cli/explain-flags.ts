import { isDnsLabel } from "../rollout/dns-name.ts";
import { choice, text } from "./flag-types.ts";
import { runFlags } from "./run-flags.ts";

const policy = "What the Wave that runs was told";

/** The flags of `wave explain`, one row a flag, in the order of `--help`. */
export const explainFlags = {
  namespace: text({
    group: "Workload",
    short: "n",
    placeholder: "NAME",
    form: isDnsLabel,
    allowed: "a name of lower-case letters, digits and dashes",
    shownDefault: "the context's, else default",
    help: "Namespace of the workload.",
  }),
  output: choice({
    group: "Workload",
    short: "o",
    of: ["text", "json"],
    default: "text",
    help: "For a person or for a program.",
  }),

  kubeconfig: runFlags.kubeconfig,
  context: runFlags.context,

  namespaces: {
    ...runFlags.namespaces,
    group: policy,
    help: "The namespaces that it watches: of others it rolls nothing and reads nothing.",
  },
  "cross-namespace": { ...runFlags["cross-namespace"], group: policy },
  "hash-key-secret": {
    ...runFlags["hash-key-secret"],
    group: policy,
    help: "The Secret with the key of its hashes. Without it, or where you may not read it, it cannot be told what a hash under a key stands for.",
  },
  "scheduling-gate": {
    ...runFlags["scheduling-gate"],
    group: policy,
    help: "Whether Pods are kept pending while a ConfigMap or Secret that they require is missing.",
  },
};
