import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { temporaryFiles } from "../../../test/support/kube/files.ts";
import { outcomeNames } from "../notification/notification.ts";
import { NotifyFileError, readNotifyFile } from "./notify-file.ts";

const secret = "T0P/S3CR3T";
const url = `https://hooks.example/${secret}`;
const receiver = { name: "on-call", type: "slack", url, outcomes: ["halted"] };

/** Reads a file of these receivers, in a folder with these other files. */
async function read(receivers: unknown, files: Readonly<Record<string, string>> = {}, env = {}) {
  const folder = await temporaryFiles({ "notify.yaml": stringify({ receivers }), ...files });
  return readNotifyFile(join(folder, "notify.yaml"), env);
}

/** Returns the error for a receiver with these additional fields, without the name of the file. */
async function errorFor(fields: object, files?: Readonly<Record<string, string>>): Promise<string> {
  const error: unknown = await read([{ ...receiver, ...fields }], files).catch((thrown: unknown) => thrown);
  if (!(error instanceof NotifyFileError))
    throw new Error("it was read, or failed of something else", { cause: error });
  expect(error.message).not.toContain("S3CR3T");
  expect(error.message).not.toContain("\n");
  return error.message.replace(/^--notify: \S+notify\.yaml: /, "");
}

describe("readNotifyFile", () => {
  it("reads name, type, URL and outcomes of each receiver, with defaults for the other fields", async () => {
    const [read1] = await read([receiver]);
    expect(read1).toEqual({
      ...receiver,
      url: new URL(url),
      outcomes: new Set(["halted"]),
      headers: {},
      ca: undefined,
      namespaces: undefined,
      template: [
        { placeholder: "kind" },
        " ",
        { placeholder: "namespace" },
        "/",
        { placeholder: "name" },
        ": ",
        { placeholder: "message" },
      ],
      perMinute: 30,
      mode: "structured",
      source: "/wave",
    });
  });

  it.each([
    ["a file, relative to it", { url: "", urlFile: "slack-url" }],
    ["an environment variable", { url: "", urlEnv: "SLACK_URL" }],
  ])("reads the URL from %s", async (_, fields) => {
    const [found] = await read([{ ...receiver, ...fields }], { "slack-url": `${url}\n` }, { SLACK_URL: url });
    expect(found?.url.href).toBe(url);
  });

  it("reads headers from the file and from other files", async () => {
    const headers = { "X-Team": "shop" };
    const headerFiles = { Authorization: "token" };
    const [found] = await read([{ ...receiver, headers, headerFiles }], { token: "Bearer abc\n" });
    expect(found?.headers).toEqual({ "x-team": "shop", authorization: "Bearer abc" });
  });

  it("accepts * for all outcomes and all namespaces", async () => {
    const [found] = await read([{ ...receiver, outcomes: ["*"], namespaces: ["*"] }]);
    expect(found?.outcomes).toEqual(new Set(outcomeNames));
    expect(found?.namespaces).toBeUndefined();
  });

  it.each([
    [{ type: "pager" }, "receivers[0].type must be one of slack, teams, googleChat, webhook, cloudEvents"],
    [{ name: "" }, "receivers[0].name is missing; the log uses it to identify the receiver"],
    [{ name: "a b" }, /^receivers\[0\]\.name must have at most/],
    [{ url: "" }, "receivers[0].url is missing; set url, urlFile or urlEnv"],
    [{ url: `ftp://hooks.example/${secret}` }, "receivers[0].url is not a URL that begins with https:// or http://"],
    [{ url: `hooks.example/${secret}` }, "receivers[0].url is not a URL that begins with https:// or http://"],
    [{ url: `https://me:S3CR3T@hooks.example` }, /^receivers\[0\]\.url contains a user name or password/],
    [{ urlEnv: "A" }, "receivers[0].urlEnv cannot be set together with url"],
    [{ url: "", urlEnv: "A" }, "receivers[0].urlEnv names an environment variable that is not set"],
    [{ url: "", urlFile: "nowhere" }, /^receivers\[0\]\.urlFile cannot be read: ENOENT/],
    [{ outcomes: [] }, /^receivers\[0\]\.outcomes is missing; use "\*", roll, complete/],
    [{ outcomes: ["role"] }, /^receivers\[0\]\.outcomes contains "role"; use "\*", roll,/],
    [{ namespaces: [] }, "receivers[0].namespaces is empty; name a namespace, or remove the field for all namespaces"],
    [{ namespaces: ["Shop"] }, 'receivers[0].namespaces contains "Shop", which is not the name of a namespace'],
    [{ text: "{{who}}" }, /^receivers\[0\]\.text contains \{\{who\}\}; use kind, namespace, name/],
    [{ text: "{{name" }, "receivers[0].text contains {{ or }} without the other"],
    [{ text: "a".repeat(501) }, "receivers[0].text has more than 500 characters"],
    [{ perMinute: 0 }, "receivers[0].perMinute must be a number above 0 and at most 6000"],
    [{ headers: { "a b": "1" } }, 'receivers[0].headers."a b" is not a valid header name'],
    [{ headers: { A: `${secret}\n` } }, "receivers[0].headers.A contains a character that is not allowed in a header"],
    [{ headers: { Host: secret } }, "receivers[0].headers.Host is a header that Wave sets itself"],
    [{ headers: { A: secret }, headerFiles: { a: "f" } }, "receivers[0].headerFiles.a is set twice"],
    [{ caFile: "f" }, "receivers[0].caFile is a file that does not start with a certificate in PEM"],
    [{ caFile: "broken" }, "receivers[0].caFile is a file that does not start with a certificate in PEM"],
    [{ mode: "binary" }, /^receivers\[0\]\."mode" is not a field; use name, type/],
    [{ type: "cloudEvents", mode: "batch" }, "receivers[0].mode must be structured or binary"],
    [{ outcome: ["halted"] }, /^receivers\[0\]\."outcome" is not a field; use .*outcomes/],
  ])("rejects %j with the path of the field and without a secret", async (fields, message) => {
    const found = await errorFor(fields, {
      f: secret,
      broken: "-----BEGIN CERTIFICATE-----\nTm8=\n-----END CERTIFICATE-----\n",
    });
    if (typeof message === "string") expect(found).toBe(message);
    else expect(found).toMatch(message);
  });

  it.each([
    ["is not a list", stringify({ receivers: {} }), /receivers is not a list$/],
    ["has no receiver", "{}", /receivers is missing; add at least one receiver$/],
    ["is not YAML", `receivers: [{url: "${secret}`, /notify\.yaml is not valid YAML \(line 1\)$/],
    ["has another field", "receiver: []", /"receiver" is not a field; use receivers$/],
    [
      "names a receiver twice",
      stringify({ receivers: [receiver, receiver] }),
      /receivers\[1\]\.name is already the name of another receiver$/,
    ],
  ])("rejects a file that %s in one line", async (_, text, message) => {
    const folder = await temporaryFiles({ "notify.yaml": text });
    const reading = readNotifyFile(join(folder, "notify.yaml"), {});
    await expect(reading).rejects.toThrow(NotifyFileError);
    await expect(reading).rejects.toThrow(message);
  });

  it("names a missing file", async () => {
    await expect(readNotifyFile("/does/not/exist", {})).rejects.toThrow(
      /^--notify: \/does\/not\/exist cannot be read: ENOENT/,
    );
  });
});
