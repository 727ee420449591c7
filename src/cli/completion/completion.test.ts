import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sourcesEnv } from "../../../test/support/sources-env.ts";
import { type Shell, scripts, shells } from "./completion.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());
const scene = commandScene(sandbox, "shop");
await scene.createNamespace("shop");
for (const name of ["web", "worker", "api"]) await scene.createWorkload(`deployments/${name}`);

/** What is offered for the last of some words, without what it means, and then the directive. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { code, out, err } = await runWave(["__complete", ...words], scene.env);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/\t.*/, ""));
}

describe("a shell gets", () => {
  it.each([
    [["wa"], ["wait", ":4"]],
    [
      ["help", "mi"],
      ["migrate", "migration", ":4"],
    ],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", ":4"],
    ],
    [["completion", "bash", ""], [":4"]],
    [
      ["list", "--all"],
      ["--all-namespaces", ":4"],
    ],
    [
      ["list", "-o", ""],
      ["table", "wide", "json", "yaml", ":4"],
    ],
    [
      ["list", "--output", "j"],
      ["json", ":4"],
    ],
    [
      ["list", "--output=j"],
      ["--output=json", ":4"],
    ],
    [
      ["list", "--state", "held,wa"],
      ["held,waiting", ":4"],
    ],
    [["list", "-A", ""], [":4"]],
    [
      ["list", "-n", "sh"],
      ["shop", ":4"],
    ],
    [
      ["run", "--namespaces=default,sh"],
      ["--namespaces=default,shop", ":4"],
    ],
    [["list", "--kubeconfig", ""], [":0"]],
    [["diff", "-f", "x"], [":0"]],
    [
      ["explain", ""],
      ["deployment/", "statefulset/", "daemonset/", "configmap/", "secret/", ":6"],
    ],
    [
      ["explain", "deployment/w", "-n", "sh"],
      ["shop", ":4"],
    ],
    [
      ["explain", "-n", "shop", "deployment/w"],
      ["deployment/web", "deployment/worker", ":4"],
    ],
    [
      ["wait", "-n", "shop", "deploy/web", "deploy/a"],
      ["deploy/api", ":4"],
    ],
    [
      ["hold", "-n", "shop", "deploy", "w"],
      ["web", "worker", ":4"],
    ],
    [
      ["hold", "namespace/sh"],
      ["namespace/shop", ":4"],
    ],
    [
      ["hold", "--", "conf"],
      ["configmap/", ":6"],
    ],
    [["nonsense", ""], [":4"]],
    [["constructor", ""], [":4"]],
  ])("for %j: %j", async (words, expected) => {
    // Under load, the API server may answer later than a shell waits.
    await eventually(async () => expect(await offered(...words)).toEqual(expected));
  });

  describe("if Wave rolls other kinds,", () => {
    const before = new Set(["deployment/", "statefulset/", "daemonset/", "configmap/", "secret/"]);
    const others = async (...words: readonly string[]) => (await offered(...words)).filter((word) => !before.has(word));

    beforeAll(async () => {
      const args = ["run", "--workload-kinds=rollouts.argoproj.io,leases.coordination.k8s.io", "--namespaces=shop"];
      await scene.createWorkload("deployments/wave", {
        labels: { "app.kubernetes.io/name": "wave" },
        spec: {
          template: { metadata: { labels: { app: "wave" } }, spec: { containers: [{ name: "w", image: "w", args }] } },
        },
      });
      // Any resource of the sandbox works, because its content is not read.
      const path = `${sandbox.url}/apis/coordination.k8s.io/v1/namespaces/shop/leases`;
      const [headers, body] = [{ "content-type": "application/json" }, JSON.stringify({ metadata: { name: "flat" } })];
      expect((await fetch(path, { method: "POST", headers, body })).status).toBe(201);
    });

    it("also these kinds and their objects", async () => {
      expect(await others("explain", "-n", "shop", "")).toEqual([
        "rollouts.argoproj.io/",
        "leases.coordination.k8s.io/",
        ":6",
      ]);
      expect(await others("hold", "-n", "shop", "lea")).toEqual(["leases.coordination.k8s.io/", ":6"]);
      expect(await others("wait", "-n", "shop", "leases.coordination.k8s.io/f")).toEqual([
        "leases.coordination.k8s.io/flat",
        ":4",
      ]);
      // The API server does not have them.
      expect(await others("wait", "-n", "shop", "rollouts.argoproj.io/")).toEqual([":4"]);
    });

    it("the kinds of the line first, and none if Wave does not watch the namespace", async () => {
      expect(await others("explain", "-n", "shop", "--workload-kinds=jobs.batch", "")).toEqual(["jobs.batch/", ":6"]);
      expect(await others("explain", "-n", "default", "")).toEqual([":6"]);
    });

    it("the built-in kinds if the API server does not answer in time", async () => {
      const match = ({ path }: { readonly path: string }) => path.endsWith("/deployments");
      const end = sandbox.faults.add({ match, action: { type: "blackHole" } });
      expect(await offered("explain", "-n", "shop", "")).toEqual([...before, ":6"]);
      end();
    });
  });

  it("nothing from a cluster that is unreachable, denies access, or is not configured", async () => {
    const words = ["__complete", "explain", "deployment/"];
    expect((await runWave(words)).out).toBe(":4\n");
    sandbox.faults.add({ match: () => true, action: { type: "status", status: 403 } });
    expect((await runWave(words, scene.env)).out).toBe(":4\n");
    sandbox.faults.clear();
  });
});

const folder = mkdtempSync(join(tmpdir(), "wave-completion-"));
const program = join(folder, "wave");
writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, "../../main.ts")}" "$@"\n`);
chmodSync(program, 0o755);

const run = (shell: Shell, ...args: readonly string[]) =>
  execFileSync(shell, args, {
    encoding: "utf8",
    env: { ...sourcesEnv(), PATH: `${folder}:${process.env.PATH}`, HOME: folder },
  });

/** The code with which each shell completes a line. */
const asking: Readonly<Record<Shell, (line: string) => string>> = {
  bash: (line) => `
    compopt() { :; }
    source <(wave completion bash)
    COMP_LINE='${line}' COMP_POINT=${line.length} _wave && printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (line) => `
    compdef() { :; }
    _describe() { print -l -- "\${(@P)3%%:*}"; }
    source <(wave completion zsh)
    words=("\${(@s: :)\${:-${line}}}"); CURRENT=\${#words}; _wave`,
  fish: (line) => `wave completion fish | source; complete -C '${line}'`,
};

function isThere(shell: Shell): boolean {
  try {
    execFileSync(shell, ["--version"]);
    return true;
  } catch {
    return false;
  }
}

describe.each(shells.filter(isThere))("%s itself", (shell) => {
  const completed = (line: string) =>
    run(shell, "-c", asking[shell](line))
      .trimEnd()
      .split("\n")
      .map((each) => each.replace(/\t.*/, ""));

  it("accepts the syntax of its script", () => {
    const file = join(folder, shell);
    writeFileSync(file, scripts[shell]);
    expect(run(shell, "-n", file)).toBe("");
  });

  it("completes commands, flags and their values", () => {
    expect(completed("wave rel")).toEqual(["release"]);
    expect(completed("wave list --all")).toEqual(["--all-namespaces"]);
    expect(completed("wave list -o ")).toEqual(["table", "wide", "json", "yaml"].toSorted(inOrderOf(shell)));
    // Readline replaces the text after the equals sign.
    expect(completed("wave list --output=j")).toEqual([shell === "bash" ? "json" : "--output=json"]);
  });
});

/** fish sorts what it is offered. */
function inOrderOf(shell: Shell): (a: string, b: string) => number {
  return (a, b) => (shell !== "fish" || a === b ? 0 : a < b ? -1 : 1);
}

it.each([
  { args: [], message: "error: no shell given; use bash, zsh or fish\n" },
  { args: ["tcsh"], message: 'error: "tcsh" is not a supported shell; use bash, zsh or fish\n' },
])("wave completion rejects $args in one line", async ({ args, message }) => {
  expect(await runWave(["completion", ...args])).toEqual({ code: 2, out: "", err: message });
});
