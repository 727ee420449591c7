import { describe, expect, it } from "vitest";
import { parseProxyUrl, proxyFromEnvironment } from "./proxy.ts";

const proxy = "http://proxy.example:3128";
const of = (server: string, env: Record<string, string>) => proxyFromEnvironment(new URL(server), env)?.href;

describe("the proxy of the environment", () => {
  it.each([
    ["https://api.example", { HTTPS_PROXY: proxy }, `${proxy}/`],
    ["https://api.example", { https_proxy: proxy }, `${proxy}/`],
    ["https://api.example", { HTTPS_PROXY: "", https_proxy: proxy }, `${proxy}/`],
    ["https://api.example", { HTTPS_PROXY: "proxy.example:3128" }, `${proxy}/`],
    ["https://api.example", { HTTPS_PROXY: "socks5://a:b@proxy.example" }, "socks5://a:b@proxy.example"],
    ["https://api.example", { HTTP_PROXY: proxy }, undefined],
    ["http://api.example", { HTTP_PROXY: proxy }, `${proxy}/`],
    ["http://api.example", { HTTPS_PROXY: proxy }, undefined],
    ["https://api.example", {}, undefined],
  ])("for %s with %j is %s", (server, env, expected) => {
    expect(of(server, env)).toBe(expected);
  });

  it.each(["https://localhost:6443", "https://127.8.0.1", "https://[::1]:6443"])("is none for %s", (server) => {
    expect(of(server, { HTTPS_PROXY: proxy })).toBeUndefined();
  });

  it.each([
    ["https://api.example", "*"],
    ["https://api.example", "other, api.example"],
    ["https://API.example", "Api.Example"],
    ["https://a.api.example", "api.example"],
    ["https://a.api.example", ".api.example"],
    ["https://a.api.example", "*.api.example"],
    ["https://api.example:6443", "api.example:6443"],
    ["https://api.example", "api.example:443"],
    ["https://10.1.2.3:6443", "10.1.2.3"],
    ["https://10.1.2.3:6443", "10.1.2.3:6443"],
    ["https://10.1.2.3", "10.0.0.0/8"],
    ["https://[2001:db8::1]:6443", "2001:db8::1"],
    ["https://[2001:db8::1]:6443", "[2001:db8::1]:6443"],
    ["https://[2001:db8::1]", "2001:db8::/32"],
  ])("is none for %s with NO_PROXY %s", (server, noProxy) => {
    expect(of(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy })).toBeUndefined();
    expect(of(server, { HTTPS_PROXY: proxy, no_proxy: noProxy })).toBeUndefined();
  });

  it.each([
    ["https://api.example", ".api.example"],
    ["https://notapi.example", "api.example"],
    ["https://api.example:6443", "api.example:443"],
    ["https://11.1.2.3", "10.0.0.0/8"],
    ["https://10.1.2.3", "10.0.0.0/99"],
    ["https://10.1.2.3", "2001:db8::/32, 1.2.3, x/8"],
    ["https://api.example", ", ,"],
  ])("stays for %s with NO_PROXY %s", (server, noProxy) => {
    expect(of(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy })).toBe(`${proxy}/`);
  });

  it.each(["ftp://sekret@proxy", "http://", "http://:80"])(
    "names the variable, not its value, if that is %s",
    (value) => {
      const get = () => of("https://api.example", { HTTPS_PROXY: value });
      expect(get).toThrow(/^\$HTTPS_PROXY is not a URL of a proxy/);
      expect(get).not.toThrow(/sekret/);
    },
  );
});

it("accepts the protocols of kubectl", () => {
  const texts = ["http://a", "https://a:1", "socks5://a", "socks5h://a", "ftp://a", "a", "socks4://a"];
  expect(texts.filter((text) => parseProxyUrl(text) !== undefined)).toEqual(texts.slice(0, 4));
});
