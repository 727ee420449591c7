import { describe, expect, it } from "vitest";
import { listenError, parseBindAddress } from "./bind-address.ts";

describe("parseBindAddress", () => {
  it.each([
    { text: ":8080", host: undefined, port: 8080 },
    { text: "127.0.0.1:0", host: "127.0.0.1", port: 0 },
    { text: "localhost:65535", host: "localhost", port: 65535 },
    { text: "[::1]:9443", host: "::1", port: 9443 },
  ])("reads $text", ({ text, host, port }) => {
    expect(parseBindAddress(text)).toEqual({ host, port });
  });

  it.each(["", "8080", "::1:8080", ":", ":x", ":65536", "http://localhost:80", "a b:1", "[::1]", ":-1"])(
    "refuses %j",
    (text) => {
      expect(parseBindAddress(text)).toBeUndefined();
    },
  );
});

describe("listenError", () => {
  it.each([
    { code: "EACCES", reason: "this user does not have permission for the port" },
    { code: "EADDRNOTAVAIL", reason: "this machine does not have that address" },
    { code: "EMFILE", reason: "listen EMFILE: what Node says" },
  ])("names address, reason and flag for $code", ({ code, reason }) => {
    const original = Object.assign(new Error(`listen ${code}: what Node says`), { code });
    expect(listenError(":80", "--metrics-bind-address", original).message).toBe(
      `cannot listen on :80: ${reason} (--metrics-bind-address)`,
    );
  });
});
