/**
 * The sidebar of the site: sections by reader, and for each page its path from the root of the repository and its name.
 * A test requires that every page of docs/ is listed once.
 */
export const sections = [
  {
    reader: "Start",
    pages: [
      ["docs/quick-start.md", "Quick start"],
      ["docs/comparison.md", "Choose"],
    ],
  },
  {
    reader: "For developers",
    pages: [
      ["docs/opt-in.md", "Opt in"],
      ["docs/pacing.md", "Control timing"],
      ["docs/safe-changes.md", "Safe changes"],
      ["docs/secret-operators.md", "Secret operators and CSI"],
      ["docs/rollouts.md", "Undo, pause, HPA"],
      ["docs/pinning.md", "Pinned configuration"],
    ],
  },
  {
    reader: "For platform teams",
    pages: [
      ["docs/install.md", "Install and upgrade"],
      ["docs/production.md", "Production and sizing"],
      ["docs/migration.md", "Migrate"],
      ["docs/gitops.md", "GitOps and CI"],
      ["docs/notifications.md", "Notifications"],
    ],
  },
  {
    reader: "On call",
    pages: [
      ["docs/ui.md", "The page in your browser"],
      ["docs/on-call.md", "Stop every rollout, symptoms"],
      ["docs/alerts.md", "Alerts"],
      ["docs/troubleshooting.md", "Troubleshooting"],
    ],
  },
  {
    reader: "Concepts",
    pages: [
      ["docs/concepts.md", "How it works"],
      ["docs/webhooks.md", "Webhooks"],
      ["docs/security.md", "Security and permissions"],
    ],
  },
  {
    reader: "Reference",
    pages: [
      ["docs/annotations.md", "Annotations, compatibility"],
      ["docs/commands.md", "Commands"],
      ["docs/flags.md", "Flags"],
      ["deploy/chart/README.md", "Chart values"],
      ["docs/events.md", "Events and errors"],
      ["docs/metrics.md", "Metrics"],
      ["docs/kinds.md", "Kinds and limits"],
      ["CHANGELOG.md", "Changes"],
    ],
  },
  {
    reader: "Change the code",
    pages: [
      ["CONTRIBUTING.md", "Contributing"],
      ["contributing/architecture.md", "Architecture"],
      ["contributing/add-a-kind.md", "Add a kind"],
      ["contributing/simulation.md", "Simulation"],
      ["contributing/releasing.md", "Make a release"],
      ["contributing/messages.md", "JSON of messages, explain"],
      ["contributing/glossary.md", "Glossary"],
      ["bench/README.md", "Measurements"],
      ["test/comparison.md", "Check the comparison"],
      ["SECURITY.md", "Report a vulnerability"],
    ],
  },
];
