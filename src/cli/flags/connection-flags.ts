import { runFlags } from "./run-flags.ts";

/** The flags that choose the cluster of a command. */
export const connectionFlags = { kubeconfig: runFlags.kubeconfig, context: runFlags.context };
