import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configMaps, start } from "../test/support/sandbox-client.ts";

describe("a sandbox with a certificate", () => {
  const folder = mkdtempSync(join(tmpdir(), "wave-sandbox-"));
  const file = (name: string) => join(folder, name);
  const subject = ["-subj", "/CN=sandbox", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-nodes", ...curve, ...subject, "-keyout", file("key"), "-out", file("cert")],
    { stdio: "ignore" },
  );
  const tls = { key: readFileSync(file("key"), "utf8"), cert: readFileSync(file("cert"), "utf8") };
  rmSync(folder, { recursive: true });

  it("serves HTTP/2 to a client that offers it, also watches that are dropped", async () => {
    const sandbox = await start({ tls });
    const session = connectHttp2(sandbox.url, { ca: tls.cert });
    const list = session.request({ ":path": configMaps });
    let text = "";
    for await (const chunk of list) text += chunk;
    expect(JSON.parse(text)).toMatchObject({ kind: "ConfigMapList" });
    const events = session.request({ ":path": `${configMaps}?watch=1` });
    events.on("error", () => {});
    await new Promise((resolve) => events.once("response", resolve));
    const closed = new Promise((resolve) => session.once("close", resolve));
    sandbox.dropConnections();
    await closed;
    const again = connectHttp2(sandbox.url, { ca: tls.cert });
    again.on("error", () => {});
    sandbox.faults.add({ match: () => true, action: { type: "drop" } });
    const dropped = again.request({ ":path": configMaps });
    dropped.on("error", () => {});
    await new Promise((resolve) => again.once("close", resolve));
    expect(sandbox.requests.at(-1)).toMatchObject({ verb: "list", status: 0 });
  });

  it("serves HTTP/1.1 to a client that offers nothing else", async () => {
    const sandbox = await start({ tls });
    const status = await new Promise((resolve, reject) => {
      const request = httpsRequest(sandbox.url + configMaps, { ca: tls.cert, agent: false }, (response) => {
        response.resume();
        resolve([response.statusCode, response.httpVersion]);
      });
      request.on("error", reject).end();
    });
    expect(status).toEqual([200, "1.1"]);
  });
});
