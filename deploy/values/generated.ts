import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { catalogue } from "../../src/telemetry/catalogue.ts";
import { chartValues } from "./chart-values.ts";
import { dashboard } from "./dashboard.ts";
import { flagValues } from "./flag-values.ts";
import { exampleVariable, flagsPage } from "./flags-page.ts";
import { flagsTemplate } from "./flags-template.ts";
import { glossary } from "./glossary.ts";
import { glossaryPage } from "./glossary-page.ts";
import { metricsPage } from "./metrics-page.ts";
import { valuesReadme } from "./values-readme.ts";
import { valuesSchema } from "./values-schema.ts";
import { valuesYaml } from "./values-yaml.ts";

const head = "Made by `npm run chart` from deploy/values, and from the flags of src/cli/flags/run-flags.ts.";

const introduction = `
<!-- ${head} -->
# Wave's chart
Wave replaces Pods exactly when the ConfigMaps and Secrets that they see have changed.

\`\`\`sh
helm install wave deploy/chart -n wave-system --create-namespace --set image.repository=registry.example/wave
\`\`\`

More, and what a values file of Wave 0.11 finds changed: docs/install.md.
`;

const flagsIntroduction = `
<!-- Made by \`npm run chart\` from the flags of src/cli/flags/run-flags.ts. -->
# Flags of wave run
An environment variable stands for each, such as ${exampleVariable}; a flag wins. In the chart each is a
[value](../deploy/chart/README.md). Durations are as in Go: \`300ms\`, \`1.5s\`, \`5m\`, \`1h30m\`. A flag that is on or off takes its value after
an equals sign: \`--scheduling-hold=false\`. Other commands: \`wave help COMMAND\`.
`;

/**
 * The files that are made from tables: those of the chart from its values and from the flags of `wave run`, the pages of
 * flags and metrics from these, and the dashboard. Their texts by their paths in deploy/.
 */
export function generatedFiles(): Readonly<Record<string, string>> {
  return {
    "chart/values.yaml": valuesYaml(chartValues, head),
    "chart/values.schema.json": valuesSchema(chartValues),
    "chart/README.md": valuesReadme(chartValues, introduction),
    "../docs/flags.md": flagsPage(runFlags, flagValues, flagsIntroduction),
    "chart/templates/_flags.tpl": flagsTemplate(flagValues, head),
    "chart/files/dashboard.json": dashboard(),
    "../docs/metrics.md": metricsPage(catalogue),
    "../docs/reference/glossary.md": glossaryPage(glossary),
  };
}
