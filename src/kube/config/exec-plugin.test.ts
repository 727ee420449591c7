import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { bearer } from "./credentials.ts";
import { type ExecPlugin, execCredentials, execTimeLimitMs } from "./exec-plugin.ts";

const certificates = makeCertificates();
const v1 = "client.authentication.k8s.io/v1";
const answer = (status: object, apiVersion = v1) => JSON.stringify({ apiVersion, kind: "ExecCredential", status });

/** A plugin that counts its runs, stores its input and prints the file "answer". */
const printer = `#!/bin/sh
cd "$(dirname "$0")"
echo run >>runs
printf '%s' "$KUBERNETES_EXEC_INFO" >info
printf '%s' "$GREETING|$FROM_OUTSIDE|$*" >told
cat answer
`;

interface Options {
  readonly script?: string;
  readonly plugin?: Partial<ExecPlugin>;
  readonly interactive?: boolean;
}

async function pluginPrinting(printed: string, { script = printer, plugin, interactive = false }: Options = {}) {
  const folder = await temporaryFiles({ plugin: script, answer: printed });
  const clock = new FakeClock();
  const file = join(folder, "config");
  const exec: ExecPlugin = {
    ...{ apiVersion: v1, command: "./plugin", args: [], env: {}, interactiveMode: "IfAvailable" },
    ...{ installHint: undefined, cluster: undefined, file, place: "users[dev].user.exec" },
    ...plugin,
  };
  const env = { PATH: process.env.PATH, FROM_OUTSIDE: "outside" };
  return {
    clock,
    file,
    credentials: execCredentials(exec, { env, interactive, clock }),
    print: (text: string) => writeFile(join(folder, "answer"), text),
    runs: async () => (await readFile(join(folder, "runs"), "utf8")).trim().split("\n").length,
    read: (name: string) => readFile(join(folder, name), "utf8"),
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function failureOf(printed: string, options?: Options): Promise<string> {
  const { credentials, file } = await pluginPrinting(printed, options);
  const error = await credentials.current().catch((thrown: unknown) => thrown);
  if (!(error instanceof ClusterConfigError)) throw new Error("no ClusterConfigError", { cause: error });
  const where = `${file}: users[dev].user.exec: credential plugin ${options?.plugin?.command ?? "./plugin"} failed: `;
  expect(error.message.startsWith(where)).toBe(true);
  expect(error.message).not.toContain("\n");
  return error.message.slice(where.length);
}

describe("a credential plugin", () => {
  it("provides a token, a client certificate, or both", async () => {
    const { cert, key } = certificates.client("a");
    const certificate = { clientCertificateData: cert, clientKeyData: key };
    const byToken = await pluginPrinting(answer({ token: "t" }));
    expect(await byToken.credentials.current()).toEqual({ headers: bearer("t") });
    const byCertificate = await pluginPrinting(answer(certificate));
    expect(await byCertificate.credentials.current()).toEqual({
      headers: {},
      certificate: { cert, key },
    });
    const byBoth = await pluginPrinting(answer({ ...certificate, token: "t" }));
    expect(await byBoth.credentials.current()).toEqual({
      headers: bearer("t"),
      certificate: { cert, key },
    });
  });

  it("gets its arguments, its variables in addition to the environment, and the cluster if it requests that", async () => {
    const cluster = { server: "https://10.0.0.1:6443" };
    const { credentials, read } = await pluginPrinting(answer({ token: "t" }), {
      plugin: { args: ["get-token", "a b"], env: { GREETING: "hello" }, cluster },
    });
    await credentials.current();
    expect(await read("told")).toBe("hello|outside|get-token a b");
    expect(JSON.parse(await read("info"))).toEqual({
      apiVersion: v1,
      kind: "ExecCredential",
      spec: { interactive: false, cluster },
    });
  });

  it("uses v1beta1 if the kubeconfig sets it", async () => {
    const apiVersion = "client.authentication.k8s.io/v1beta1";
    const { credentials, read } = await pluginPrinting(answer({ token: "t" }, apiVersion), { plugin: { apiVersion } });
    expect((await credentials.current()).headers).toEqual(bearer("t"));
    expect(JSON.parse(await read("info"))).toEqual({
      apiVersion,
      kind: "ExecCredential",
      spec: { interactive: false },
    });
  });

  it("is found on $PATH if its command has no slash", async () => {
    const { credentials } = await pluginPrinting("", {
      plugin: { command: "echo", args: [answer({ token: "from echo" })] },
    });
    expect((await credentials.current()).headers).toEqual(bearer("from echo"));
  });

  it("runs once for all waiting requests, and not again before its credential expires", async () => {
    const expirationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 10)).toISOString();
    const { credentials, clock, print, runs } = await pluginPrinting(answer({ token: "one", expirationTimestamp }));
    const [first, second] = await Promise.all([credentials.current(), credentials.current()]);
    expect(second).toBe(first);
    await print(answer({ token: "two" }));
    await clock.advance(599_999);
    expect(await credentials.current()).toBe(first);
    expect(await runs()).toBe(1);
    await clock.advance(1);
    expect((await credentials.current()).headers).toEqual(bearer("two"));
    expect(await runs()).toBe(2);
  });

  it("runs again when the server rejected its credential, once for all rejected requests", async () => {
    const { credentials, print, runs } = await pluginPrinting(answer({ token: "one" }));
    const rejected = await credentials.current();
    await print(answer({ token: "two" }));
    const [a, b] = await Promise.all([credentials.renew(rejected), credentials.renew(rejected)]);
    expect(a?.headers).toEqual(bearer("two"));
    expect(b).toBe(a);
    expect(await credentials.renew(rejected)).toBe(a);
    expect(await runs()).toBe(2);
  });

  it("that prints the same again provides no other credential", async () => {
    const { credentials, runs } = await pluginPrinting(answer({ token: "one" }));
    expect(await credentials.renew(await credentials.current())).toBeUndefined();
    expect(await runs()).toBe(2);
  });

  it("that renews only its token does not change the connections made with its certificate", async () => {
    const { cert, key } = certificates.client("a");
    const certificate = { clientCertificateData: cert, clientKeyData: key };
    const { credentials, print } = await pluginPrinting(answer({ token: "one", ...certificate }));
    const rejected = await credentials.current();
    await print(answer({ token: "two", ...certificate }));
    const renewed = await credentials.renew(rejected);
    expect(renewed?.headers).toEqual(bearer("two"));
    expect(renewed?.certificate).toBe(rejected.certificate);
    const other = certificates.client("b");
    await print(answer({ token: "two", clientCertificateData: other.cert, clientKeyData: other.key }));
    expect((await credentials.renew(renewed ?? rejected))?.certificate).toEqual(other);
  });

  it("runs again for the next request after a failure", async () => {
    const { credentials, print } = await pluginPrinting("nonsense");
    await expect(credentials.current()).rejects.toThrow(ClusterConfigError);
    await print(answer({ token: "t" }));
    expect((await credentials.current()).headers).toEqual(bearer("t"));
  });

  it("that prompts fails immediately without a terminal, and learns whether there is one", async () => {
    expect(await failureOf("", { plugin: { interactiveMode: "Always" } })).toBe(
      "it requires a terminal (interactiveMode: Always), and standard input is not a terminal",
    );
    for (const [interactiveMode, expected] of [
      ["Always", true],
      ["IfAvailable", true],
      ["Never", false],
    ] as const) {
      const there = await pluginPrinting(answer({ token: "t" }), { plugin: { interactiveMode }, interactive: true });
      await there.credentials.current();
      expect(JSON.parse(await there.read("info"))).toMatchObject({ spec: { interactive: expected } });
    }
  });

  it("that takes too long is killed, and its child processes block nothing", async () => {
    const script = '#!/bin/sh\necho $$ >"$(dirname "$0")/pid"\nsleep 20\n';
    const pipes = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
    const before = pipes();
    const { credentials, clock, read } = await pluginPrinting("", { script });
    const failure = expect(credentials.current()).rejects.toThrow(/failed: no result within 30 s$/);
    await expect.poll(() => read("pid").catch(() => "")).toMatch(/^\d+\n$/);
    await clock.advance(execTimeLimitMs.alone);
    await failure;
    await expect.poll(pipes).toBe(before);
    const pid = Number(await read("pid"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

describe("a plugin that has ended", () => {
  it("leaves no timer behind that would keep the process from ending", async () => {
    const good = await pluginPrinting(answer({ token: "t" }));
    await good.credentials.current();
    const missing = await pluginPrinting("", { plugin: { command: "no-such-plugin" } });
    await expect(missing.credentials.current()).rejects.toThrow("not found");
    const bad = await pluginPrinting("", { script: "#!/bin/sh\nexit 1\n" });
    await expect(bad.credentials.current()).rejects.toThrow("exit code 1");
    expect([good, missing, bad].map(({ clock }) => clock.pending)).toEqual([0, 0, 0]);
  });
});

describe("a plugin's failure", () => {
  it("has the standard error of the plugin", async () => {
    const script = "#!/bin/sh\necho 'log in first:' >&2\necho '  cloud login' >&2\nexit 3\n";
    expect(await failureOf("", { script })).toBe("exit code 3: log in first: cloud login");
  });

  it("has the install hint", async () => {
    const plugin = { command: "no-such-plugin", installHint: "Install it:\n  brew install no-such-plugin\n" };
    expect(await failureOf("", { plugin })).toBe("command not found; Install it: brew install no-such-plugin");
  });

  it.each([
    ["text that is not JSON", "sekret", "output is not an ExecCredential in JSON"],
    ["another object", `{"kind":"Status","status":{"token":"sekret"}}`, "output is not an ExecCredential in JSON"],
    [
      "another version",
      answer({ token: "sekret" }, "client.authentication.k8s.io/v1alpha1"),
      `output has apiVersion client.authentication.k8s.io/v1alpha1, expected ${v1}`,
    ],
    ["no credential", answer({ token: "" }), "output has neither a token nor a client certificate"],
    ["half a certificate", answer({ clientKeyData: "sekret" }), "output has no clientCertificateData"],
    [
      "a line break in the token",
      answer({ token: "sekret\n" }),
      "the token in the output contains a control character, such as a line break; remove it",
    ],
    [
      "the key of another certificate",
      answer({ clientCertificateData: certificates.client("a").cert, clientKeyData: certificates.client("b").key }),
      "the client key in the output does not belong to the client certificate; use the key of this certificate",
    ],
    [
      "no time",
      answer({ token: "sekret", expirationTimestamp: "tomorrow" }),
      "expirationTimestamp in the output is not an RFC 3339 time",
    ],
    ["without end", "sekret".repeat(200_000), "output exceeds 1 MiB"],
  ])("names the problem of the output without its content: %s", async (_, printed, expected) => {
    expect(await failureOf(printed)).toBe(expected);
  });
});
