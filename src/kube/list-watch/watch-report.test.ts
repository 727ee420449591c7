import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { createLogger } from "../../telemetry/logging/log.ts";
import { ApiError, ConnectionError } from "../api/errors.ts";
import { type Resource, resources } from "../api/resources.ts";
import { createWatchReport } from "./watch-report.ts";

function reportOf(resource: Resource = resources.secrets, namespace?: string, isUnreachable = () => false) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const write = (line: string) => {
    const { level, msg, error } = JSON.parse(line);
    lines.push([level, msg, error].filter((part) => part !== undefined).join(": "));
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

describe("what a watch suffers from", () => {
  it("is said with the permission that is missing, where that is all namespaces or one", () => {
    const all = reportOf();
    all.report.failed(refusal(403, "Forbidden"), 0);
    expect(all.lines).toEqual([
      'error: cannot watch secrets: allow this user "list" and "watch" on secrets in all namespaces: watch secrets: 403 Forbidden: no',
    ]);
    const one = reportOf(resources.configMaps, "shop");
    one.report.failed(refusal(403, "Forbidden"), 0);
    expect(one.lines[0]).toContain('allow this user "list" and "watch" on configmaps in namespace shop');
    const cluster = reportOf(resources.mutatingWebhookConfigurations);
    cluster.report.failed(refusal(403, "Forbidden"), 0);
    expect(cluster.lines[0]).toContain(
      'allow this user "list" and "watch" on mutatingwebhookconfigurations.admissionregistration.k8s.io: ',
    );
  });

  it("is said as what it is where the credentials or the kind are not known", () => {
    const { lines, report } = reportOf();
    report.failed(refusal(401, "Unauthorized"), 0);
    report.failed(refusal(404, "NotFound"), 1);
    expect(lines).toEqual([
      "error: cannot watch secrets: the API server does not accept the credentials: watch secrets: 401 Unauthorized: no",
      "error: cannot watch secrets: the API server does not know secrets of v1: watch secrets: 404 NotFound: no",
    ]);
  });

  it("is not said by each watch while nothing at all answers, which is told for all of them", () => {
    const { lines, report } = reportOf(resources.secrets, undefined, () => true);
    for (let failures = 1; failures < 10; failures++) report.failed(broken, failures);
    expect(lines).toEqual([]);
    report.failed(refusal(403, "Forbidden"), 10);
    expect(lines).toHaveLength(1);
  });

  it("is no trouble yet when a connection breaks once, and a warning when the next one fails too", () => {
    const { lines, report } = reportOf();
    report.failed(broken, 0);
    report.well();
    report.failed(broken, 0);
    report.failed(broken, 1);
    expect(lines).toEqual([
      "info: the watch of secrets broke; resuming it: watch secrets: read ECONNRESET",
      "info: the watch of secrets broke; resuming it: watch secrets: read ECONNRESET",
      "warn: cannot watch secrets; trying again until it can: watch secrets: read ECONNRESET",
    ]);
  });

  it("is said once, again after 10 minutes, and once more when it is over", async () => {
    const { clock, lines, report } = reportOf();
    for (let failures = 0; failures < 25; failures++) {
      report.failed(refusal(403, "Forbidden"), failures);
      await clock.advance(30_000);
    }
    expect(lines).toHaveLength(2);
    report.well();
    report.well();
    expect(lines.slice(2)).toEqual(["info: watching secrets again"]);
    report.failed(refusal(403, "Forbidden"), 0);
    expect(lines).toHaveLength(4);
  });

  it("is said at once when it becomes something else", () => {
    const { lines, report } = reportOf();
    report.failed(refusal(403, "Forbidden"), 0);
    report.failed(broken, 1);
    report.failed(refusal(403, "Forbidden"), 2);
    expect(lines).toHaveLength(3);
  });
});
