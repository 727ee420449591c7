import { describe, expect, it } from "vitest";
import {
  type Authority,
  advanceAuthority,
  isAuthority,
  type Lifetimes,
  planAuthority,
  tokensOf,
  trustedBy,
} from "./authority.ts";
import { tokenOf } from "./path-token.ts";

const day = 86_400_000;
const lifetimes: Lifetimes = { authorityMs: 300 * day, servingMs: 30 * day, overlapMs: 3_600_000, holdMs: 30_000 };
const start = Date.UTC(2026, 0, 1);
const at = (now: number, certificates: Authority["previous"] = [], tokens: Authority["previousTokens"] = []) => ({
  now,
  others: { certificates, tokens },
  lifetimes,
});
const first = advanceAuthority(undefined, "create", at(start));
const names = (authority: Authority) => trustedBy(authority).map(({ commonName }) => commonName);
const plan = (authority: Authority | undefined, now: number, nextAuthorityMs = -1, pathMs = -1) =>
  planAuthority(authority, now, { nextAuthorityMs, pathMs }, lifetimes);

describe("planAuthority and advanceAuthority", () => {
  it("create the first authority with a name of Wave, valid since an hour ago", () => {
    expect(plan(undefined, start)).toEqual({ action: "create", reason: "no authority yet" });
    expect(first.current.certificate).toMatchObject({ notBefore: start - 3_600_000, notAfter: start + 300 * day });
    expect(isAuthority(first.current.certificate)).toBe(true);
  });

  it("keep an authority until a third of its validity is left", () => {
    expect(plan(first, start)).toEqual({ action: "keep", until: start + 200 * day });
    expect(plan(first, start + 200 * day - 1)).toMatchObject({ action: "keep" });
    expect(plan(first, start + 200 * day)).toEqual({ action: "prepare", reason: "the current authority expires soon" });
  });

  const prepared = advanceAuthority(first, "prepare", at(start + 200 * day));

  it("prepare a successor that is trusted but does not sign yet", () => {
    expect(prepared.current).toBe(first.current);
    expect(names(prepared)).toEqual([first.current, prepared.next].map((pair) => pair?.certificate.commonName));
  });

  it("promote the next authority only after it was published for the whole overlap", () => {
    const now = start + 201 * day;
    expect(plan(prepared, now, -1)).toEqual({ action: "keep", until: start + 300 * day });
    expect(plan(prepared, now, 3_599_999)).toEqual({ action: "keep", until: start + 300 * day });
    expect(plan(prepared, now, 3_600_000)).toEqual({
      action: "promote",
      reason: "the next authority was published for long enough",
    });
  });

  const promoted = advanceAuthority(prepared, "promote", at(start + 201 * day));

  it("keep a replaced authority trusted, without its key, until the first change after its expiry", () => {
    expect(promoted.current).toBe(prepared.next);
    expect(promoted.next).toBeUndefined();
    expect(promoted.previous).toEqual([first.current.certificate]);
    const later = advanceAuthority(promoted, "prepare", at(start + 400 * day));
    expect(later.previous).toEqual([]);
    const sooner = advanceAuthority(promoted, "prepare", at(start + 299 * day));
    expect(sooner.previous).toEqual([first.current.certificate]);
  });

  it("replace an expired authority at once, by the next one if it exists, and keep it trusted", () => {
    const late = start + 300 * day;
    expect(plan(first, late)).toEqual({ action: "create", reason: "the current authority has expired" });
    expect(plan(prepared, late)).toEqual({ action: "promote", reason: "the current authority has expired" });
    const replaced = advanceAuthority(first, "create", at(late));
    expect(replaced.previous).toEqual([first.current.certificate]);
  });

  it("move the start of validity with each renewal, at most two lifetimes behind", () => {
    let authority = first;
    let now = start;
    for (let renewals = 0; renewals < 10; renewals++) {
      now += 200 * day;
      authority = advanceAuthority(advanceAuthority(authority, "prepare", at(now)), "promote", at(now));
      const { notBefore } = authority.current.certificate;
      expect(notBefore).toBeGreaterThan(now - 2 * lifetimes.authorityMs);
      expect(notBefore).toBeLessThan(now - 3_600_000);
    }
  });

  it("keep older paths answered until the current path was registered for the whole overlap", () => {
    const [before, now] = [tokenOf(first.current), start + 202 * day];
    expect(tokensOf(first)).toEqual([before]);
    expect(tokensOf(prepared)).toEqual([before, tokenOf(prepared.next ?? first.current)]);
    expect(tokensOf(promoted)).toEqual([tokenOf(promoted.current), before]);
    expect(plan(promoted, now, -1, 3_599_999)).toMatchObject({ action: "keep" });
    expect(plan(promoted, now, -1, 3_600_000)).toMatchObject({ action: "retire" });
    const retired = advanceAuthority(promoted, "retire", at(now));
    expect(tokensOf(retired)).toEqual([tokenOf(promoted.current)]);
    expect(trustedBy(retired)).toEqual(trustedBy(promoted));
    expect(plan(retired, now, -1, 3_600_000)).toMatchObject({ action: "keep" });
    const recreated = advanceAuthority(first, "create", at(start + 300 * day));
    expect(tokensOf(recreated)).toEqual([tokenOf(recreated.current), before]);
  });

  it("create an authority that is valid by the right clock although this clock is years ahead", () => {
    const ahead = advanceAuthority(first, "create", at(start + 5000 * day));
    expect(ahead.current.certificate.notBefore).toBeLessThan(start);
  });

  it("keep known authorities trusted after the Secret was deleted", () => {
    const expired = advanceAuthority(undefined, "create", at(start - 301 * day)).current.certificate;
    const made = advanceAuthority(undefined, "create", at(start + day, [first.current.certificate, expired]));
    expect(made.previous).toEqual([first.current.certificate]);
    const called = tokenOf(first.current);
    expect(advanceAuthority(undefined, "create", at(start + day, [], [called])).previousTokens).toEqual([called]);
    expect(made.current.certificate.fingerprint).not.toBe(first.current.certificate.fingerprint);
  });
});
