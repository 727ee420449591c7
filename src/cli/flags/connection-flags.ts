import { isDnsLabel } from "../../domain/syntax/names.ts";
import type { ChosenCluster } from "../../kube/config/cluster-config.ts";
import { programForms } from "../output/table.ts";
import { bool, choice, duration, type Flag, text } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";

const group = "Cluster";

const timeout = duration({
  group,
  default: 30_000,
  minMs: 1,
  zero: "no limit",
  help: "Time limit of a single request to the API server. 0: no limit.",
});

/** Names of groups, one for each flag, because a name may contain commas. Undefined: the flag was not given. */
const groups: Flag<readonly string[] | undefined> = {
  ...text({
    group,
    placeholder: "NAME",
    help: "Group to impersonate. Repeat the flag for several groups. Needs --as.",
  }),
  repeats: "\n",
  default: undefined,
  parse: (value) => {
    const names = value.split("\n");
    return names.every((name) => name !== "") ? names : undefined;
  },
};

/** The flags that choose a cluster and the credentials there, with the names that they have in kubectl. */
export const clusterFlags = {
  kubeconfig: text({
    group,
    placeholder: "FILE",
    help: "Kubeconfig file. Default: $KUBECONFIG, then the service account of the Pod, then ~/.kube/config.",
  }),
  context: text({
    group,
    placeholder: "NAME",
    completes: "contexts",
    help: "Context in the kubeconfig. Default: the current context.",
  }),
  server: text({
    group,
    short: "s",
    placeholder: "URL",
    form: (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
    allowed: "a URL such as https://10.0.0.1:6443",
    help: "Address of the API server. Default: from the kubeconfig.",
  }),
  token: {
    ...text({ group, placeholder: "TOKEN", help: "Bearer token for the API server. Default: from the kubeconfig." }),
    isSecret: true,
  },
  as: text({ group, placeholder: "NAME", help: "User to impersonate." }),
  "as-group": groups,
  "insecure-skip-tls-verify": bool({
    group,
    default: false,
    help: "Accept any certificate of the API server. Anyone between you and the server can then read and change everything.",
  }),
};

/** The flags of a command that choose the cluster and the connection to it. The controller has its own time limits. */
export const connectionFlags = {
  ...clusterFlags,
  "request-timeout": {
    ...timeout,
    // In kubectl, a number without a unit is a number of seconds.
    parse: (value: string) => timeout.parse(/^0*[1-9]\d*$/.test(value) ? `${value}s` : value),
  },
};

/** Returns the cluster that flags choose. */
export function chosenCluster(values: Partial<FlagValues<typeof clusterFlags>>): ChosenCluster {
  const { kubeconfig, context, server, token, as } = values;
  return {
    kubeconfigFlag: kubeconfig,
    context,
    overrides: {
      server,
      token,
      as,
      asGroups: values["as-group"],
      insecureSkipTlsVerify: values["insecure-skip-tls-verify"],
    },
  };
}

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

/** Returns the flag for the format of the output: these forms for people, the first by default, or a form for programs. */
export function outputFlag<const F extends string>(
  forms: readonly [F, ...F[]],
  help: string,
  group = namespaceFlag.group,
) {
  const of = [...forms, ...programForms] as const;
  return choice({ group, short: "o", of, default: forms[0], placeholder: "FORMAT", help });
}
