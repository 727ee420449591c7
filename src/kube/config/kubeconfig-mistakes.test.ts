import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { type KubeconfigParts, kubeconfigOf, temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { controlCharacter } from "./credentials.ts";
import { loadKubeconfig } from "./kubeconfig.ts";

/** The message about a kubeconfig, without its file's name, which begins it. */
async function mistake(config: string, context?: string): Promise<string> {
  const file = join(await temporaryFiles({ config }), "config");
  const options = { context, env: {}, interactive: false, clock: new FakeClock() };
  const error = await loadKubeconfig([file], options).catch((thrown: unknown) => thrown);
  if (!(error instanceof ClusterConfigError)) throw new Error("no ClusterConfigError", { cause: error });
  expect(error.message).toContain(file);
  expect(error.message).not.toMatch(/\n|sekret/);
  return error.message.replaceAll(file, "FILE");
}

const v1 = "client.authentication.k8s.io/v1";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const certificates = makeCertificates();
const { cert, key } = certificates.client("a");
const data = base64(cert);
/** A key in two formats, both encrypted with a password. */
const encrypted = (["pkcs8", "sec1"] as const).map((type) =>
  createPrivateKey(key).export({ type, format: "pem", cipher: "aes-256-cbc", passphrase: "sekret" }).toString(),
);
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });

describe("a mistake in a kubeconfig is one line with its file and path, and never with a credential:", () => {
  it.each<[string, string, string]>([
    ["not YAML", "users:\n- name: a\n  user: {token: sekret\n", "kubeconfig FILE is not valid YAML (line 4)"],
    ["an alias of nothing", "users: *sekret\n", "kubeconfig FILE is not valid YAML: an alias has no anchor"],
    ["a text", "sekret", "FILE: the file is not a mapping"],
    ["empty", "", "FILE: current-context is not set; set --context (the file has no contexts)"],
    [
      "no current context",
      JSON.stringify({ contexts: [{ name: "a" }, { name: "b" }] }),
      "FILE: current-context is not set; set --context (available: a, b)",
    ],
    ["a list that is none", `clusters: {a: sekret}`, "FILE: clusters is not a list"],
    ["an entry that is none", `clusters: [sekret]`, "FILE: clusters[0] is not a mapping"],
    ["an entry without a name", `users: [{user: {token: sekret}}]`, "FILE: users[0].name is missing"],
    ["a number for a text", "current-context: 1", "FILE: current-context is not a string; put it in quotes"],
  ])("%s", async (_, config, expected) => {
    expect(await mistake(config)).toBe(expected);
  });

  it.each<[string, KubeconfigParts, string]>([
    [
      "an unknown cluster",
      { context: { cluster: "prod" } },
      "contexts[dev].context.cluster is prod, but FILE has no cluster with this name",
    ],
    [
      "an unknown user",
      { context: { user: "bob" } },
      "contexts[dev].context.user is bob, but FILE has no user with this name",
    ],
    ["no cluster", { context: { cluster: "" } }, "contexts[dev].context.cluster is missing"],
    ["no server", { cluster: { server: "" } }, "clusters[dev].cluster.server is missing"],
    [
      "no URL",
      { cluster: { server: "10.0.0.1:6443" } },
      "clusters[dev].cluster.server is 10.0.0.1:6443; use a URL such as https://10.0.0.1:6443",
    ],
    [
      "a proxy",
      { cluster: { "proxy-url": "ftp://me:sekret@proxy" } },
      "clusters[dev].cluster.proxy-url is not the URL of a proxy; use http://, https:// or socks5:// with a host and a port",
    ],
    [
      "an authority that nobody asks",
      { cluster: { "insecure-skip-tls-verify": true, "certificate-authority-data": data } },
      "clusters[dev].cluster.insecure-skip-tls-verify cannot be true together with a certificate-authority; remove one of them",
    ],
    [
      "neither true nor false",
      { cluster: { "insecure-skip-tls-verify": "no" } },
      "clusters[dev].cluster.insecure-skip-tls-verify is neither true nor false",
    ],
    [
      "an authority that is no certificate",
      { cluster: { "certificate-authority-data": base64(key) } },
      "clusters[dev].cluster.certificate-authority-data contains no valid certificate in PEM",
    ],
    [
      "a certificate that cannot be read",
      {
        user: {
          "client-certificate-data": base64("-----BEGIN CERTIFICATE-----\nsekret"),
          "client-key-data": base64(key),
        },
      },
      "users[dev].user.client-certificate-data contains no valid certificate in PEM",
    ],
    [
      "a key that is no PEM",
      { user: { "client-certificate-data": data, "client-key": "config" } },
      "users[dev].user.client-key contains no valid private key in PEM",
    ],
    ...encrypted.map((text): [string, KubeconfigParts, string] => [
      "an encrypted key",
      { user: { "client-certificate-data": data, "client-key-data": base64(text) } },
      "users[dev].user.client-key-data is encrypted; use a key without a password",
    ]),
    ...[certificates.client("b").key, rsa.toString()].map((other): [string, KubeconfigParts, string] => [
      "the key of another certificate, also of another type",
      { user: { "client-certificate-data": data, "client-key-data": base64(other) } },
      "users[dev].user.client-key-data does not belong to the client certificate; use the key of this certificate",
    ]),
    ...(
      [
        ["token", "sekret\n"],
        ["token", "\u001bsekret"],
        ["as", "jane\r\nImpersonate-Group: system:masters"],
      ] as const
    ).map(([field, text]): [string, KubeconfigParts, string] => [
      `a line break or another control character in ${field}`,
      { user: { [field]: text } },
      `users[dev].user.${field} ${controlCharacter}`,
    ]),
    ["a line break in as-uid", { user: { as: "jane", "as-uid": "1\n" } }, `users[dev].user.as-uid ${controlCharacter}`],
    [
      "a line break in as-groups",
      { user: { as: "jane", "as-groups": ["dev", "a\nb"] } },
      `users[dev].user.as-groups ${controlCharacter}`,
    ],
    [
      "a line break in as-user-extra",
      { user: { as: "jane", "as-user-extra": { scopes: ["a\nb"] } } },
      `users[dev].user.as-user-extra.scopes ${controlCharacter}`,
    ],
    [
      "a certificate without a key",
      { user: { "client-certificate-data": data } },
      "users[dev].user.client-key is missing; client-certificate and client-key belong together",
    ],
    [
      "an auth provider",
      { user: { "auth-provider": { name: "gcp" } } },
      "users[dev].user.auth-provider is not supported; use the credential plugin (exec) of the provider",
    ],
    [
      "groups without a user",
      { user: { "as-groups": ["a"] } },
      "users[dev].user.as is missing; as-uid, as-groups and as-user-extra require it",
    ],
    ["a plugin of no command", { user: { exec: { apiVersion: v1 } } }, "users[dev].user.exec.command is missing"],
    [
      "a plugin of an old version",
      { user: { exec: { apiVersion: `${v1}alpha1`, command: "x" } } },
      `users[dev].user.exec.apiVersion is ${v1}alpha1; use client.authentication.k8s.io/v1 or v1beta1`,
    ],
    [
      "a plugin's variable without a name",
      { user: { exec: { apiVersion: v1, command: "x", env: [{ value: "sekret" }] } } },
      "users[dev].user.exec.env[0].name is missing",
    ],
    [
      "a plugin's mode",
      { user: { exec: { apiVersion: v1, command: "x", interactiveMode: "Sometimes" } } },
      "users[dev].user.exec.interactiveMode is not one of Never, IfAvailable, Always",
    ],
  ])("%s", async (_, parts, expected) => {
    expect(await mistake(kubeconfigOf(parts))).toBe(`FILE: ${expected}`);
  });

  it("an unknown context, with the existing contexts", async () => {
    expect(await mistake(kubeconfigOf(), "prod")).toBe("FILE: context prod not found (available: dev)");
  });

  it("a file named by it that cannot be read", async () => {
    const message = await mistake(kubeconfigOf({ cluster: { "certificate-authority": "/nonexistent/ca" } }));
    expect(message).toMatch(
      /^FILE: clusters\[dev\].cluster.certificate-authority cannot be read: ENOENT.*\/nonexistent\/ca/,
    );
  });

  it("a kubeconfig that cannot be read", async () => {
    const folder = await temporaryFiles();
    const options = { context: undefined, env: {}, interactive: false, clock: new FakeClock() };
    await expect(loadKubeconfig([folder], options)).rejects.toThrow(`cannot read kubeconfig ${folder}: EISDIR`);
  });
});
