import { expect, it } from "vitest";
import { defaultPolicy } from "../../../../test/support/domain/objects.ts";
import { parseRequestedKind, requestedKindRow } from "../../../domain/model/kinds/requested-kind.ts";
import type { WorkloadObject } from "../../../domain/model/workload.ts";
import { updateOnConfigChange } from "../../../domain/references/annotations.ts";
import { workloadFindings } from "./annotation-findings.ts";

const wanted = parseRequestedKind("widgets.example.com") ?? expect.fail("no kind");
const row = requestedKindRow(wanted, { apiVersion: "example.com/v1", kind: "Widget" });

function noted(annotations: Readonly<Record<string, string>>) {
  const metadata = { name: "lathe", namespace: "shop", annotations };
  return workloadFindings(row, { metadata, spec: { template: "none" } } as unknown as WorkloadObject, defaultPolicy);
}

it("reports a malformed custom resource only if it opts in", () => {
  expect(noted({ [updateOnConfigChange]: "true" }).mistakes).toEqual([
    {
      severity: "problem",
      where: { kind: "widgets.example.com", namespace: "shop", name: "lathe" },
      what: expect.stringMatching(
        /^widgets\.example\.com "shop\/lathe" is malformed: .*\. Wave does not roll the workload\.$/,
      ),
      fix: "kubectl edit -n shop widgets.example.com/lathe",
      needs: [],
    },
  ]);
  expect(noted({}).mistakes).toEqual([]);
});
