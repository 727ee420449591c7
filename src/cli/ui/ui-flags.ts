import type { CommandCall } from "../command/help.ts";
import { connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { bool, contexts, type Flag, text } from "../flags/flag-types.ts";
import type { FlagTable } from "../flags/parse-flags.ts";
import { inheritedFlags } from "../flags/run-flags.ts";

const { group } = namespaceFlag;

const port: Flag<number> = {
  ...text({ group: "Page", placeholder: "PORT", help: "Port on 127.0.0.1. Default: a free port." }),
  default: 0,
  allowed: "a port from 1 to 65535",
  parse: (value) => (/^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined),
};

/** The flags of `wave ui`, one row a flag, in the order of `--help`. */
export const uiFlags = {
  namespace: { ...namespaceFlag, shownDefault: "all namespaces", help: "Show only this namespace." },
  contexts: contexts({ group, help: "Show several clusters. Names contexts of the kubeconfig." }),
  port,
  open: bool({ group: "Page", default: false, help: "Open the page in a browser." }),

  ...connectionFlags,
  ...inheritedFlags,
};

/** A call of `wave ui`. */
export type UiCall = CommandCall<typeof uiFlags & FlagTable>;
