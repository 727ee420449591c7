/**
 * The sidebar of the site: sections by reader, and for each page its path from the root of the repository and its name.
 * A test requires that every page of docs/ is listed once.
 */
export const sections = [
  {
    reader: "Start",
    pages: [
      ["docs/quick-start.md", "Quick start"],
      ["docs/concepts.md", "How it works"],
      ["docs/comparison.md", "Comparison"],
      ["docs/faq.md", "Questions"],
    ],
  },
  {
    reader: "Install and run",
    pages: [
      ["docs/install.md", "Install"],
      ["docs/webhooks.md", "Webhooks"],
      ["docs/high-availability.md", "High availability"],
      ["docs/gitops.md", "GitOps and Helm"],
      ["docs/migration.md", "Migration"],
      ["docs/upgrade.md", "Upgrades and versions"],
      ["docs/security.md", "Security"],
      ["docs/permissions.md", "Permissions"],
      ["docs/performance.md", "Performance"],
    ],
  },
  {
    reader: "Annotate",
    pages: [
      ["docs/annotations.md", "Annotations"],
      ["docs/pacing.md", "Pacing"],
      ["docs/pinning.md", "Pinned configuration"],
      ["docs/rollouts.md", "Rollback, HPA, partitions, OnDelete"],
      ["docs/recipes.md", "Recipes"],
      ["docs/kinds.md", "Kinds"],
      ["docs/csi.md", "Secrets Store CSI"],
      ["docs/compatibility.md", "Compatibility"],
      ["docs/owner-references.md", "Owner references"],
      ["docs/limits.md", "Limits"],
    ],
  },
  {
    reader: "On call",
    pages: [
      ["docs/on-call.md", "From alert to solution"],
      ["docs/troubleshooting.md", "Troubleshooting"],
      ["docs/commands.md", "Commands"],
      ["docs/alerts.md", "Alerts"],
      ["docs/metrics.md", "Metrics"],
      ["docs/events.md", "Events"],
      ["docs/errors.md", "Errors"],
      ["docs/notifications.md", "Notifications"],
    ],
  },
  {
    reader: "Look up",
    pages: [
      ["docs/flags.md", "Flags"],
      ["docs/reference/glossary.md", "Glossary"],
      ["deploy/chart/README.md", "Chart values"],
      ["CHANGELOG.md", "Changes"],
    ],
  },
  {
    reader: "Change the code",
    pages: [
      ["CONTRIBUTING.md", "Contributing"],
      ["docs/architecture.md", "Architecture"],
      ["docs/simulation.md", "Simulation"],
      ["SECURITY.md", "Report a vulnerability"],
    ],
  },
];
