/**
 * What stands where in the site: sections by reader, of each page its path from the root of the repository and what it is
 * called. A test wants every page of docs/ here, once.
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
      ["docs/admission.md", "Admission"],
      ["docs/high-availability.md", "High availability"],
      ["docs/gitops.md", "GitOps and Helm"],
      ["docs/migration.md", "Moving"],
      ["docs/upgrade.md", "Upgrades and versions"],
      ["docs/security.md", "Security"],
      ["docs/permissions.md", "Permissions"],
      ["docs/performance.md", "Figures"],
    ],
  },
  {
    reader: "Annotate",
    pages: [
      ["docs/annotations.md", "Annotations"],
      ["docs/pacing.md", "Pacing"],
      ["docs/rollouts.md", "Undo, HPA, partitions, OnDelete"],
      ["docs/recipes.md", "Recipes"],
      ["docs/kinds.md", "Kinds"],
      ["docs/csi.md", "Secrets Store CSI"],
      ["docs/dialects.md", "Dialects"],
      ["docs/owner-references.md", "Owner references"],
      ["docs/budgets.md", "Budgets"],
    ],
  },
  {
    reader: "On call",
    pages: [
      ["docs/on-call.md", "From the alert to the end of it"],
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
      ["deploy/chart/README.md", "Values of the chart"],
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
