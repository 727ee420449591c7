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
  it("names address, reason and flag, and keeps the cause", () => {
    const cause = Object.assign(new Error("listen EACCES: permission denied"), { code: "EACCES" });
    const error = listenError(":80", "--metrics-bind-address", cause);
    expect(error.message).toBe("cannot listen on :80: this user may not listen on that port (--metrics-bind-address)");
    expect(error.cause).toBe(cause);
  });
});
