import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { temporaryFiles } from "../../../test/support/kube/files.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { bearer, fileLifeMs, fixedCredentials, tokenFileCredentials } from "./credentials.ts";

async function tokenFile(content: string, initial?: string) {
  const path = join(await temporaryFiles({ token: content }), "token");
  const clock = new FakeClock();
  return { path, clock, credentials: tokenFileCredentials(path, clock, initial) };
}

describe("the token of a file", () => {
  it("is read again when the last read is a minute old, and not before", async () => {
    const { path, clock, credentials } = await tokenFile("one\n");
    expect((await credentials.current()).headers).toEqual(bearer("one"));
    await writeFile(path, "two\n");
    await clock.advance(fileLifeMs - 1);
    expect((await credentials.current()).headers).toEqual(bearer("one"));
    await clock.advance(1);
    expect((await credentials.current()).headers).toEqual(bearer("two"));
  });

  it("is read again at once when the server refused it", async () => {
    const { path, credentials } = await tokenFile("one");
    const rejected = await credentials.current();
    await writeFile(path, "two");
    const renewed = await credentials.renew(rejected);
    expect(renewed?.headers).toEqual(bearer("two"));
    expect(await credentials.current()).toBe(renewed);
  });

  it("offers no other credential if the file still contains the rejected one", async () => {
    const { credentials } = await tokenFile("one");
    expect(await credentials.renew(await credentials.current())).toBeUndefined();
  });

  it("is the same credential while the file is unchanged", async () => {
    const { path, clock, credentials } = await tokenFile("one");
    const first = await credentials.current();
    await writeFile(path, "one\n\n");
    await clock.advance(fileLifeMs);
    expect(await credentials.current()).toBe(first);
  });

  it("stays in use while the file is missing or empty", async () => {
    const { path, clock, credentials } = await tokenFile("one");
    const first = await credentials.current();
    await writeFile(path, "");
    await clock.advance(fileLifeMs);
    expect(await credentials.current()).toBe(first);
    await rm(path);
    await clock.advance(fileLifeMs);
    expect(await credentials.current()).toBe(first);
  });

  it("is reported as unreadable when the server refuses the last one", async () => {
    const { path, credentials } = await tokenFile("one");
    const rejected = await credentials.current();
    await writeFile(path, "");
    await expect(credentials.renew(rejected)).rejects.toThrow(new ClusterConfigError(`token file ${path} is empty`));
    expect(await credentials.current()).toBe(rejected);
  });

  it("cannot have a line break, which no header may contain", async () => {
    const { path, credentials } = await tokenFile("one\ntwo");
    await expect(credentials.current()).rejects.toThrow(
      new ClusterConfigError(`token file ${path} contains a control character, such as a line break; remove it`),
    );
  });

  it("is the one given beside the file until the file can be read", async () => {
    const { path, clock, credentials } = await tokenFile("", "beside");
    expect((await credentials.current()).headers).toEqual(bearer("beside"));
    await writeFile(path, "from the file");
    await clock.advance(fileLifeMs);
    expect((await credentials.current()).headers).toEqual(bearer("from the file"));
  });

  it("is reported as missing with the name of the file, and found when the file appears", async () => {
    const { path, credentials } = await tokenFile("");
    await expect(credentials.current()).rejects.toThrow(new ClusterConfigError(`token file ${path} is empty`));
    await rm(path);
    await expect(credentials.current()).rejects.toThrow(`cannot read token file ${path}: ENOENT`);
    await writeFile(path, "late");
    expect((await credentials.current()).headers).toEqual(bearer("late"));
  });
});

describe("fixed credentials", () => {
  it("are one credential, without an alternative", async () => {
    const credentials = fixedCredentials(bearer("t"));
    const credential = await credentials.current();
    expect(await credentials.current()).toBe(credential);
    expect(await credentials.renew(credential)).toBeUndefined();
  });
});
