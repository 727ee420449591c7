import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../src/lib/project-address.ts";
import { run } from "./command.ts";

/** The folder of the repository. */
export const root = join(import.meta.dirname, "..");

/** What the artifacts of a release are made from. */
export interface Project {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  /** The address of the repository, without a slash at its end. */
  readonly repository: string;
  /** The commit of the work tree, in hexadecimal digits. */
  readonly commit: string;
  /** The time of that commit in seconds. All files in the artifacts have this time. */
  readonly commitTime: number;
  /** The folder that gets the artifacts. */
  readonly out: string;
}

/** The parts of `package.json` that a release reads. */
export interface Package {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

/** Returns the package of the project, the only source of its version. */
export function projectPackage(): Package {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

/**
 * Reads the project at its commit. @throws Error if the project has no address, or if files differ from the commit, because then no commit
 * makes these artifacts.
 */
export async function readProject(): Promise<Project> {
  const { name, version, description, license } = projectPackage();
  if (repository === undefined) {
    throw new Error(
      "the project has no address, which the package of npm and krew need; set it in src/lib/project-address.ts",
    );
  }
  const git = (...args: string[]) => run("git", args, { cwd: root });
  const changed = await git("status", "--porcelain");
  if (changed !== "") throw new Error(`some files are not committed; commit them first:\n${changed}`);
  const [commit = "", time] = (await git("log", "-1", "--format=%H %ct")).split(" ");
  return {
    name,
    version,
    description,
    license,
    repository,
    commit,
    commitTime: Number(time),
    out: join(root, "dist", "release", version),
  };
}
