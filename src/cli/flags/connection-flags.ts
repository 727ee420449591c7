import { bool, duration, type Flag, text } from "./flag-types.ts";
import { runFlags } from "./run-flags.ts";

const { group } = runFlags.kubeconfig;

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

/** The flags that choose the cluster of a command and the connection to it, with the names that they have in kubectl. */
export const connectionFlags = {
  kubeconfig: runFlags.kubeconfig,
  context: runFlags.context,
  server: text({
    group,
    short: "s",
    placeholder: "URL",
    form: (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
    allowed: "a URL such as https://10.0.0.1:6443",
    help: "Address of the API server. Default: from the kubeconfig.",
  }),
  token: text({ group, placeholder: "TOKEN", help: "Bearer token for the API server. Default: from the kubeconfig." }),
  as: text({ group, placeholder: "NAME", help: "User to impersonate." }),
  "as-group": groups,
  "insecure-skip-tls-verify": bool({
    group,
    default: false,
    help: "Accept any certificate of the API server. Anyone between you and the server can then read and change everything.",
  }),
  "request-timeout": {
    ...timeout,
    // In kubectl, a number without a unit is a number of seconds.
    parse: (value: string) => timeout.parse(/^0*[1-9]\d*$/.test(value) ? `${value}s` : value),
  },
};
