import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { createLogger } from "../../telemetry/logging/log.ts";
import { ApiError, ConnectionError } from "../api/api-failure.ts";
import { type Resource, resources } from "../api/resources.ts";
import { createWatchReport } from "./watch-report.ts";

function reportOf(resource: Resource = resources.secrets, namespace?: string, isUnreachable = () => false) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const write = (line: string) => {
    const { level, msg, next, error } = JSON.parse(line);
    lines.push([level, msg, next, error].filter((part) => part !== undefined).join(": "));
  };
  const log = createLogger({ format: "json", level: "info", clock, write });
  const what = namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`;
  return {
    clock,
    lines,
    report: createWatchReport({ client: { isUnreachable }, clock, log, what, resource, namespace }),
  };
}

const refusal = (status: number, reason: string) =>
  new ApiError({ request: "watch secrets", status, reason, serverMessage: "no" });
const broken = new ConnectionError("watch secrets: read ECONNRESET");

describe("the report of a watch", () => {
  it("names the missing permission, for all namespaces or one", () => {
    const all = reportOf();
    all.report.failed(refusal(403, "Forbidden"), 0);
    expect(all.lines).toEqual([
      "error: cannot watch a resource: forbidden: Grant list and watch on secrets in all namespaces with a ClusterRole: watch secrets: 403 Forbidden: no",
    ]);
    const one = reportOf(resources.configMaps, "shop");
    one.report.failed(refusal(403, "Forbidden"), 0);
    expect(one.lines[0]).toContain("Grant list and watch on configmaps in namespace shop with a Role:");
    const cluster = reportOf(resources.mutatingWebhookConfigurations);
    cluster.report.failed(refusal(403, "Forbidden"), 0);
    expect(cluster.lines[0]).toContain(
      "Grant list and watch on mutatingwebhookconfigurations.admissionregistration.k8s.io with a ClusterRole: ",
    );
  });

  it("names rejected credentials and an unknown kind", () => {
    const { lines, report } = reportOf();
    report.failed(refusal(401, "Unauthorized"), 0);
    report.failed(refusal(404, "NotFound"), 1);
    expect(lines).toEqual([
      "error: cannot watch a resource: the API server does not accept the credentials: Check the credentials: watch secrets: 401 Unauthorized: no",
      "error: cannot watch a resource: the API server does not serve the resource: Install secrets of v1: watch secrets: 404 NotFound: no",
    ]);
  });

  it("is silent while the server does not respond, which is reported once for all watches", () => {
    const { lines, report } = reportOf(resources.secrets, undefined, () => true);
    for (let failures = 1; failures < 10; failures++) report.failed(broken, failures);
    expect(lines).toEqual([]);
    report.failed(refusal(403, "Forbidden"), 10);
    expect(lines).toHaveLength(1);
  });

  it("logs a single broken connection as information, and a second one as a warning", () => {
    const { lines, report } = reportOf();
    report.failed(broken, 0);
    report.well();
    report.failed(broken, 0);
    report.failed(broken, 1);
    expect(lines).toEqual([
      "info: a watch broke, resuming: watch secrets: read ECONNRESET",
      "info: a watch broke, resuming: watch secrets: read ECONNRESET",
      "warn: cannot watch a resource; retrying: watch secrets: read ECONNRESET",
    ]);
  });

  it("repeats an unchanged problem after 10 minutes, and reports once that it is over", async () => {
    const { clock, lines, report } = reportOf();
    for (let failures = 0; failures < 25; failures++) {
      report.failed(refusal(403, "Forbidden"), failures);
      await clock.advance(30_000);
    }
    expect(lines).toHaveLength(2);
    report.well();
    report.well();
    expect(lines.slice(2)).toEqual(["info: a watch works again"]);
    report.failed(refusal(403, "Forbidden"), 0);
    expect(lines).toHaveLength(4);
  });

  it("reports another problem immediately", () => {
    const { lines, report } = reportOf();
    report.failed(refusal(403, "Forbidden"), 0);
    report.failed(broken, 1);
    report.failed(refusal(403, "Forbidden"), 2);
    expect(lines).toHaveLength(3);
  });
});
