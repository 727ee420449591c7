import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { until } from "../control-plane/wave-process.ts";
import { exchangesOf, type Fence, otherTestOfBlock, printsAsIn, reasonNotToRun, root } from "./fences.ts";

/** The result of a command. */
interface Ran {
  readonly code: number | null;
  readonly text: string;
}

/**
 * The workplace of a reader who follows a page from the start: a folder with links to the repository and the files of the page, a
 * kubeconfig, and on PATH wave, kubectl and helm.
 */
export class Scene {
  readonly #page: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "wave-docs-"));
  readonly #env: NodeJS.ProcessEnv;

  constructor(page: string, kubeconfig: string) {
    this.#page = page;
    for (const name of readdirSync(root))
      if (!name.startsWith(".")) symlinkSync(join(root, name), join(this.#folder, name));
    const home = join(this.#folder, "home");
    mkdirSync(home);
    copyFileSync(kubeconfig, join(home, "kubeconfig"));
    this.#env = {
      // A scene may have other commands in ~/bin, for example vault.
      PATH: [join(root, "bin"), join(home, "bin"), controlPlaneFolder(), process.env.PATH].join(delimiter),
      HOME: home,
      KUBECONFIG: join(home, "kubeconfig"),
      // The editor in this scene changes one word of an object.
      KUBE_EDITOR: "sed -i s/Hello/Goodbye/",
      TERM: "dumb",
      // Several Waves run here at the same time.
      WAVE_METRICS_BIND_ADDRESS: "0",
      WAVE_HEALTH_PROBE_BIND_ADDRESS: "0",
    };
  }

  /** Creates the objects that the page assumes: test/docs/scenes/PAGE.sh. */
  async begin(): Promise<void> {
    const script = join(import.meta.dirname, "scenes", `${this.#page.replace(/^.*\/|\.md$/g, "")}.sh`);
    if (existsSync(script)) await this.run(`. ${script}`, script);
  }

  /** Follows a block of the page. Resolves to what a block with language `sh` prints. Throws an Error if that fails. */
  async follow(fence: Fence): Promise<string> {
    if (reasonNotToRun(fence) !== undefined) this.#keep(fence);
    else if (otherTestOfBlock(fence) === undefined) return (await this.#followed(fence)) ?? "";
    return "";
  }

  async #followed(fence: Fence): Promise<string | undefined> {
    switch (fence.language) {
      case "sh":
        if (fence.info !== "starts") return this.run(fence.text, fence.at);
        await this.#starts(fence);
        return undefined;
      case "console":
        for (const { command, output } of exchangesOf(fence)) await this.type(command, output, fence.at);
        return undefined;
      case "yaml":
        await this.#yaml(fence);
        return undefined;
      case "json":
        JSON.parse(fence.text);
    }
    return undefined;
  }

  async end(): Promise<void> {
    const script =
      "kubectl delete --timeout=60s $(kubectl get namespaces -o name | grep -vE '/(kube-.*|default)$') || true";
    await this.#run(
      `[ ! -f wave.pid ] || kill $(cat wave.pid); ${script}; kubectl delete --all --wait=false deployments,configmaps,secrets -n default`,
    );
    this.close();
  }

  /** Deletes the workplace, and leaves the cluster as it is. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Writes a block to the file that its first line names, for example `# web.yaml`, for commands of the page. */
  #keep(fence: Fence): void {
    const name = fence.text.match(/^# ([\w.-]+\.ya?ml)\n/)?.[1];
    if (name !== undefined) writeFileSync(join(this.#folder, name), fence.text);
    if (fence.language === "yaml") parseAllDocuments(fence.text);
  }

  async #yaml(fence: Fence): Promise<void> {
    this.#keep(fence);
    if (fence.info === "file") return;
    const file = join(this.#folder, "block.yaml");
    writeFileSync(file, fence.text);
    if (fence.info === "values")
      await this.run(`helm template wave deploy/chart -n wave-system --validate -f ${file}`, fence.at);
    else if (fence.info === "fragment") parse(fence.text);
    else await this.run(`kubectl apply --server-side --force-conflicts --dry-run=server -f ${file}`, fence.at);
  }

  /**
   * Types a command, and expects the output of the page, and the texts in `sees`. Throws an Error if the command prints something else.
   */
  async type(command: string, output: readonly string[], at: string, sees: readonly string[] = []): Promise<void> {
    // A command that only reads is repeated until the state is reached.
    const looks =
      /^(.*\| )?(bin\/)?(wave (list|explain|doctor|diff|migrate|wait)|kubectl (wave |get |events |describe |rollout status))/.test(
        command,
      );
    const deadline = performance.now() + 240_000;
    for (;;) {
      const { code, text } = await this.#run(command);
      // If the page shows no output, the command only has to succeed. Exit code 1 is a valid answer of wave and of grep.
      const works = output.length > 0 || code === 0 || (code === 1 && !isComplaint(text));
      if (works && printsAsIn(output, text) && sees.every((each) => text.includes(each))) return;
      if (!looks || performance.now() > deadline) throw new Error(`${at}: $ ${command}\nprinted:\n${text}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  /** Starts a Wave for each line. Each must become ready, and must end with exit code 0 after SIGTERM. */
  async #starts({ text, at }: Fence): Promise<void> {
    for (const line of text.trim().replaceAll("\\\n", "").split("\n")) {
      const child = spawn("bash", ["--norc", "-c", `exec ${line}`], { cwd: this.#folder, env: this.#env });
      const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
      let log = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          log += chunk.toString();
        });
      await until(`${at}: ${line}: to be synced`, async () => {
        if (child.exitCode !== null) throw new Error(log);
        return log.includes("caches synced") ? true : undefined;
      });
      child.kill();
      const code = await exited;
      if (code !== 0) throw new Error(`${at}: ${line}: ended with ${code}:\n${log}`);
    }
  }

  /** Runs a script, and resolves to what it printed. Throws an Error if its exit code is not 0; `at` is its place, for the message. */
  async run(script: string, at: string): Promise<string> {
    const { code, text } = await this.#run(script);
    if (code !== 0) throw new Error(`${at} ended with ${code}:\n${text}`);
    return text;
  }

  #run(text: string): Promise<Ran> {
    // Words in capitals are placeholders for the reader. The scene provides their values.
    const script = text
      .replace(/\bKIND\/NAME\b/g, "deployment/web")
      .replace(/\bNAMESPACE\b/g, "shop")
      .replace(/\bPOD\b/g, "$(kubectl get pods -n wave-system -o jsonpath={.items[0].metadata.name})");
    return new Promise((resolve) => {
      const child = spawn("bash", ["--norc", "-euo", "pipefail", "-c", script], {
        cwd: this.#folder,
        env: this.#env,
        timeout: 240_000,
      });
      let printed = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      child.stdin.end();
      child.once("close", (code) => resolve({ code, text: printed }));
    });
  }
}

/** Reports whether a text has an error of kubectl, helm or wave for a wrong or refused command. */
function isComplaint(text: string): boolean {
  return /^(error|Error)[: ]|^wave( \w+)?: /m.test(text);
}
