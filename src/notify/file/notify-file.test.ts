import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { temporaryFiles } from "../../../test/support/kube/files.ts";
import { readNotifyFile } from "./notify-file.ts";
import { NotifyFileError } from "./notify-file-error.ts";

const secret = "T0P/S3CR3T";
const url = `https://hooks.example/${secret}`;
const receiver = { name: "on-call", type: "slack", url, outcomes: ["halted"] };

/** Reads a file of these receivers, in a folder with these other files. */
async function read(receivers: unknown, files: Readonly<Record<string, string>> = {}, env = {}) {
  const folder = await temporaryFiles({ "notify.yaml": stringify({ receivers }), ...files });
  return readNotifyFile(join(folder, "notify.yaml"), env);
}

/** What is wrong with a receiver of these fields besides, after the name of the file. */
async function mistakeIn(fields: object, files?: Readonly<Record<string, string>>): Promise<string> {
  const error: unknown = await read([{ ...receiver, ...fields }], files).catch((thrown: unknown) => thrown);
  if (!(error instanceof NotifyFileError))
    throw new Error("it was read, or failed of something else", { cause: error });
  expect(error.message).not.toContain("S3CR3T");
  expect(error.message).not.toContain("\n");
  return error.message.replace(/^--notify: \S+notify\.yaml: /, "");
}

describe("the file of --notify", () => {
  it("has a name, a type, a URL and outcomes for each receiver, and defaults for the rest", async () => {
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
  ])("takes the URL from %s", async (_, fields) => {
    const [found] = await read([{ ...receiver, ...fields }], { "slack-url": `${url}\n` }, { SLACK_URL: url });
    expect(found?.url.href).toBe(url);
  });

  it("takes headers as they are and from files", async () => {
    const headers = { "X-Team": "shop" };
    const headerFiles = { Authorization: "token" };
    const [found] = await read([{ ...receiver, headers, headerFiles }], { token: "Bearer abc\n" });
    expect(found?.headers).toEqual({ "x-team": "shop", authorization: "Bearer abc" });
  });

  it("takes * for all outcomes and all namespaces", async () => {
    const [found] = await read([{ ...receiver, outcomes: ["*"], namespaces: ["*"] }]);
    expect(found?.outcomes.size).toBe(10);
    expect(found?.namespaces).toBeUndefined();
  });

  it.each([
    [{ type: "pager" }, "receivers[0].type is not one of slack, teams, googleChat, webhook, cloudEvents"],
    [{ name: "" }, "receivers[0].name is missing: it says in the log which receiver is meant"],
    [{ name: "a b" }, /^receivers\[0\]\.name is not made of/],
    [{ url: "" }, "receivers[0].url is missing, and so are urlFile and urlEnv"],
    [{ url: `ftp://hooks.example/${secret}` }, "receivers[0].url is no URL that begins with https:// or http://"],
    [{ url: `hooks.example/${secret}` }, "receivers[0].url is no URL that begins with https:// or http://"],
    [{ url: `https://me:S3CR3T@hooks.example` }, /^receivers\[0\]\.url has a user name or password in it/],
    [{ urlEnv: "A" }, "receivers[0].urlEnv cannot be given together with url"],
    [{ url: "", urlEnv: "A" }, "receivers[0].urlEnv names an environment variable that is not set"],
    [{ url: "", urlFile: "nowhere" }, /^receivers\[0\]\.urlFile cannot be read: ENOENT/],
    [{ outcomes: [] }, /^receivers\[0\]\.outcomes is missing; there is "\*", roll, recordedConfig/],
    [{ outcomes: ["role"] }, /^receivers\[0\]\.outcomes holds "role"; there is "\*", roll,/],
    [{ namespaces: [] }, "receivers[0].namespaces is empty: nothing would be told"],
    [{ namespaces: ["Shop"] }, 'receivers[0].namespaces holds "Shop", which names no namespace'],
    [{ text: "{{who}}" }, /^receivers\[0\]\.text has \{\{who\}\}; there is kind, namespace, name/],
    [{ text: "{{name" }, "receivers[0].text has {{ or }} without the other"],
    [{ text: "a".repeat(501) }, "receivers[0].text has more than 500 characters"],
    [{ perMinute: 0 }, "receivers[0].perMinute is not a number above 0, of at most 6000"],
    [{ headers: { "a b": "1" } }, 'receivers[0].headers."a b" is not the name of a header'],
    [{ headers: { A: `${secret}\n` } }, "receivers[0].headers.A has a character in it that no header may have"],
    [{ headers: { Host: secret } }, "receivers[0].headers.Host is a header that Wave sets"],
    [{ headers: { A: secret }, headerFiles: { a: "f" } }, "receivers[0].headerFiles.a is there twice"],
    [{ caFile: "f" }, "receivers[0].caFile is a file that does not begin with a certificate in PEM"],
    [{ caFile: "broken" }, "receivers[0].caFile is a file that does not begin with a certificate in PEM"],
    [{ mode: "binary" }, /^receivers\[0\]\."mode" is no field; there is name, type/],
    [{ type: "cloudEvents", mode: "batch" }, "receivers[0].mode is neither structured nor binary"],
    [{ outcome: ["halted"] }, /^receivers\[0\]\."outcome" is no field; there is .*outcomes/],
  ])("is refused with %j, by the path of the field, and tells no secret", async (fields, message) => {
    const found = await mistakeIn(fields, {
      f: secret,
      broken: "-----BEGIN CERTIFICATE-----\nTm8=\n-----END CERTIFICATE-----\n",
    });
    if (typeof message === "string") expect(found).toBe(message);
    else expect(found).toMatch(message);
  });

  it.each([
    ["is no list", stringify({ receivers: {} }), /receivers is not a list$/],
    ["has nobody in it", "{}", /receivers is missing: there is nobody to tell$/],
    ["is no YAML", `receivers: [{url: "${secret}`, /notify\.yaml is not valid YAML \(line 1\)$/],
    ["has another field", "receiver: []", /"receiver" is no field; there is receivers$/],
    [
      "names a receiver twice",
      stringify({ receivers: [receiver, receiver] }),
      /receivers\[1\]\.name is that of another, too$/,
    ],
  ])("that %s is refused in one line", async (_, text, message) => {
    const folder = await temporaryFiles({ "notify.yaml": text });
    const reading = readNotifyFile(join(folder, "notify.yaml"), {});
    await expect(reading).rejects.toThrow(NotifyFileError);
    await expect(reading).rejects.toThrow(message);
  });

  it("that is not there is told by its name", async () => {
    await expect(readNotifyFile("/does/not/exist", {})).rejects.toThrow(
      /^--notify: \/does\/not\/exist cannot be read: ENOENT/,
    );
  });
});
