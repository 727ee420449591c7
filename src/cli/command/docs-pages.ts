import { repository } from "../../lib/project-address.ts";
import { version } from "./version.ts";

/** The pages of the docs with what they are about, by name, in the order of docs/index.md. `wave help` prints them. */
export const docsPages = {
  "quick-start": "See Wave work on your own cluster.",
  comparison: "Decide between Wave and another controller.",
  "opt-in": "Opt in a workload, and avoid the first restart.",
  pacing: "Control the time of rollouts: windows, holds, approvals, canaries.",
  "safe-changes": "Stop a bad edit: validators, the canary, the alert gate, returns.",
  "secret-operators": "Use Wave with secret operators and the Secrets Store CSI driver.",
  rollouts: "Undo, pause, autoscalers and mixed Pods.",
  pinning: "Let the Pods of a revision read stored copies of their ConfigMaps.",
  install: "Install, upgrade and remove Wave.",
  production: "Values for a hardened installation, and sizing.",
  migration: "Migrate from Wave in Go, SAP's pod-reloader or Stakater's Reloader.",
  gitops: "Use Wave with Argo CD, Flux and pipelines.",
  notifications: "Send Events to Slack, Teams, Google Chat or a webhook.",
  "on-call": "Stop every rollout, and solve an incident.",
  alerts: "What each alert means, and what to do.",
  troubleshooting: "Find out why a workload does not roll.",
  concepts: "How Wave decides.",
  webhooks: "The webhooks of Wave and their certificates.",
  security: "The permissions of Wave, and attacks.",
  annotations: "All annotations.",
  ui: "Look at rollouts in your browser.",
  commands: "All commands and their output.",
  flags: "All flags of wave run.",
  events: "All Events and errors, with the next step for each.",
  metrics: "All metrics.",
  kinds: "The kinds of workloads, and the limits of Wave.",
} as const;

/** Returns the address of a page of the docs of this version, with a heading if one is given; without a public repository, its file in the source. */
export function docsAddress(page: keyof typeof docsPages, heading?: string): string {
  const file = `docs/${page}.md${heading === undefined ? "" : `#${heading}`}`;
  return repository === undefined ? file : `${repository}/blob/v${version()}/${file}`;
}
