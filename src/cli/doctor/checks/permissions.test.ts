import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { toRunningWave } from "../../cluster/running-wave/running-wave.ts";
import { oldestMinor } from "./api-server.ts";
import { type NeededPermission, neededPermissions } from "./permissions.ts";

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

/** Returns a Wave with these flags. */
function wave(...flags: readonly string[]) {
  const found = toRunningWave({
    metadata: { name: "wave", namespace: "wave-system", uid: "1", resourceVersion: "1" },
    spec: {
      selector: {},
      template: { spec: { containers: [{ name: "wave", image: "wave", args: ["run", ...flags] }] } },
    },
  });
  if (found === undefined) throw new Error("the Deployment does not run Wave");
  return found;
}

const objects = ({ resource, group, name }: NeededPermission) =>
  `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;

describe("the permissions that wave doctor expects", () => {
  it("are those of docs/security.md, for each role and verb", () => {
    const everything = [
      "--leader-election",
      "--enable-webhooks",
      "--enable-csi-integration",
      "--pin-config",
      "--owner-references",
      "--hash-key-secret=wave-system/wave-hash-key",
      "--workload-kinds=cronjobs.batch,jobs.batch",
    ];
    const needs = neededPermissions(wave(...everything), undefined).map(
      (need) => `${need.role === "" ? "wave" : `wave-${need.role}`} ${objects(need)} ${need.verb}`,
    );
    const rows = [...read("docs/security.md").matchAll(/^\| `([\w-]+)` \| ([^|]+) \| ([\w, ]+) \|/gm)].flatMap(
      ([line, role, what = "", verbs]) => what.split(", ").map((each) => [line, role, each, verbs] as const),
    );
    // Only the hook before `helm uninstall` needs its permissions.
    const ofWave = rows.filter(([, role = ""]) => !role.startsWith("wave-uninstall"));
    const documented = ofWave.flatMap(([, role, what, verbs = ""]) =>
      verbs.split(", ").map((verb) => `${role} ${what} ${verb}`),
    );
    expect([...new Set(needs)].sort()).toEqual([...new Set(documented)].sort());
  });

  it("do not include what the flags switch off", () => {
    const resources = (...flags: readonly string[]) =>
      new Set(neededPermissions(wave(...flags), undefined).map(({ role }) => role));
    expect(resources()).toEqual(new Set(["", "namespaces"]));
    expect(resources("--enable-webhooks", "--webhook-tls-directory=/c")).not.toContain("webhook-authority");
  });

  it("include the kinds that the flags name", () => {
    const kinds = neededPermissions(wave("--workload-kinds=rollouts.argoproj.io,example.com/v1/widgets"), undefined);
    expect(kinds.map(objects)).toEqual(expect.arrayContaining(["rollouts.argoproj.io", "widgets.example.com"]));
  });
});

it("the oldest supported Kubernetes is that of the chart", () => {
  expect(parse(read("deploy/chart/Chart.yaml")).kubeVersion).toBe(`>=1.${oldestMinor}.0-0`);
});
