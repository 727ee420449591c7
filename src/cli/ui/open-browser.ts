import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The program that opens a file in the browser of the user. */
const opener = process.platform === "darwin" ? "open" : "xdg-open";

/** How long the browser may take to read the file, in milliseconds. */
const readMs = 60_000;

/**
 * Opens an address in the browser of the user; returns false if there is none. Other users of the machine see the arguments of each process,
 * but not a file of this user. So the browser gets the address, which has the token, by a file that only this user may read.
 */
export async function openBrowser(url: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "wave-ui-"));
  const file = join(folder, "open.html");
  await writeFile(
    file,
    `<!doctype html><meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">Wave</a>\n`,
    {
      mode: 0o600,
    },
  );
  const remove = () => rm(folder, { recursive: true, force: true });
  const child = spawn(opener, [pathToFileURL(file).href], { stdio: "ignore", detached: true });
  child.unref();
  try {
    await once(child, "spawn");
  } catch {
    await remove();
    return false;
  }
  setTimeout(() => void remove(), readMs).unref();
  return true;
}
