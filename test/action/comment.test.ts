import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { workload } from "../end-to-end/objects.ts";
import { listen } from "../support/kube/server.ts";
import { sourcesEnv } from "../support/sources-env.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

interface Comment {
  id: number;
  body: string;
  user: { type: string };
}

/** A server with the comments of pull request 7 of one repository, as GitHub answers. */
async function startGitHub(comments: Comment[], status = 200) {
  const writes: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url = "", headers } = request;
    const [, id] = /^\/repos\/acme\/shop\/issues\/comments\/(\d+)$/.exec(url) ?? [];
    const page = Number(/^\/repos\/acme\/shop\/issues\/7\/comments\?per_page=100&page=(\d+)$/.exec(url)?.[1] ?? 0);
    expect(headers.authorization).toBe("Bearer sekret");
    const body = method === "GET" ? "" : JSON.parse(await text(request)).body;
    if (method !== "GET") writes.push(`${method} ${url}`);
    if (method === "POST") comments.push({ id: comments.length + 1, body, user: { type: "Bot" } });
    const old = comments.find((comment) => String(comment.id) === id);
    if (old !== undefined) old.body = body;
    response.writeHead(status).end(JSON.stringify(page > 0 ? comments.slice(100 * (page - 1), 100 * page) : {}));
  };
  const server = await listen(createServer((request, response) => void answer(request, response)));
  onTestFinished(server.close);
  const folder = await mkdtemp(join(tmpdir(), "wave-action-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const event = join(folder, "event.json");
  await writeFile(event, JSON.stringify({ pull_request: { number: 7 } }));
  const env = {
    ...sourcesEnv(),
    HOME: folder,
    GITHUB_API_URL: `http://127.0.0.1:${server.port}`,
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_EVENT_PATH: event,
    GITHUB_TOKEN: "sekret",
  };
  const comment = async (result: string, title = "Wave diff") => {
    await writeFile(join(folder, "result.md"), result);
    return run(process.execPath, [join(root, "action/comment.ts"), title, join(folder, "result.md")], { env });
  };
  return { folder, env, writes, comment };
}

const person = { user: { type: "User" } };

describe("the comment of the GitHub action", () => {
  it("is written once for each title, updated if the result changes, and found on any page", async () => {
    const comments = Array.from({ length: 150 }, (_, id) => ({ id: id + 1, body: "nice", ...person }));
    const { comment, writes } = await startGitHub(comments);
    await comment("nothing rolls\n");
    await comment("web rolls\n", "production");
    await comment("nothing rolls\n");
    await comment("web rolls\n");
    expect(writes).toEqual([
      "POST /repos/acme/shop/issues/7/comments",
      "POST /repos/acme/shop/issues/7/comments",
      "PATCH /repos/acme/shop/issues/comments/151",
    ]);
    expect(comments.slice(150).map(({ body }) => body)).toEqual([
      "<!-- wave: Wave diff -->\n### Wave diff\n\nweb rolls\n",
      "<!-- wave: production -->\n### production\n\nweb rolls\n",
    ]);
  });

  it("leaves a comment of a person, which begins in the same way, to that person", async () => {
    const comments = [{ id: 1, body: "<!-- wave: Wave diff --> mine", ...person }];
    const { comment } = await startGitHub(comments);
    await comment("web rolls\n");
    expect(comments.map(({ body }) => body)).toEqual([
      "<!-- wave: Wave diff --> mine",
      expect.stringContaining("web rolls"),
    ]);
  });

  it("names the missing permission, without the token", async () => {
    const { comment } = await startGitHub([], 403);
    const { stderr } = await comment("x").catch((error: { stderr: string }) => error);
    expect(stderr).toMatch(
      /^error: GitHub responded to GET .* with 403; give the job the permission pull-requests: write\n$/,
    );
    expect(stderr).not.toContain("sekret");
  });

  it("has the result of wave diff for the manifests that a command renders", async () => {
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox.close());
    const comments: Comment[] = [];
    const { folder, env } = await startGitHub(comments);
    await writeFile(join(folder, "kubeconfig"), JSON.stringify(sandbox.kubeconfig()));
    await writeFile(
      join(folder, "web.json"),
      JSON.stringify(workload("web", { containers: [{ name: "a", image: "b" }] })),
    );
    const inputs = {
      RENDER: "cat web.json",
      NAMESPACE: "default",
      TITLE: "Wave diff",
      KUBECONFIG: join(folder, "kubeconfig"),
    };
    await run(join(root, "action/diff"), [], { cwd: folder, env: { ...env, ...inputs } });
    expect(comments.map(({ body }) => body)).toEqual([expect.stringMatching(/### Wave diff\n\n\*\*Wave:\*\* /)]);
  });

  it.each([
    { inputs: { MANIFESTS: "deploy" }, what: "folders" },
    {
      inputs: { RENDER: "for file in deploy/*; do cat $file; echo; echo ---; done" },
      what: "manifests that a command renders in both folders",
    },
  ])("compares the target branch with the pull request without a cluster: $what", async ({ inputs }) => {
    const comments: Comment[] = [];
    const { folder, env } = await startGitHub(comments);
    for (const [branch, value] of Object.entries({ ".": "2", main: "1" })) {
      await mkdir(join(folder, branch, "deploy"), { recursive: true });
      const reads = { containers: [{ name: "a", image: "b", envFrom: [{ configMapRef: { name: "page" } }] }] };
      const page = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "page" }, data: { key: value } };
      await writeFile(join(folder, branch, "deploy/web.json"), JSON.stringify(workload("web", reads)));
      await writeFile(join(folder, branch, "deploy/page.json"), JSON.stringify(page));
    }
    const diff = () =>
      run(join(root, "action/diff"), [], { cwd: folder, env: { ...env, ...inputs, BASE: "main", TITLE: "Wave diff" } });
    await diff();
    expect(comments.map(({ body }) => body)).toEqual([
      expect.stringContaining('| 1 | `default deployment/web` | roll | `ConfigMap "page" changed (key "key").` |'),
    ]);
    if ("MANIFESTS" in inputs) {
      await rm(join(folder, "main"), { recursive: true });
      await diff();
      expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining("1 workload affected: 1 created.")]);
    }
  });

  it("writes no comment if the command that renders the manifests fails", async () => {
    const comments: Comment[] = [];
    const { folder, env } = await startGitHub(comments);
    const inputs = {
      RENDER: "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}'; false",
      BASE: ".",
      TITLE: "Wave diff",
    };
    await expect(run(join(root, "action/diff"), [], { cwd: folder, env: { ...env, ...inputs } })).rejects.toThrow();
    expect(comments).toEqual([]);
  });

  it("is made by a step that gets every input through its environment, so that no input is a command by mistake", () => {
    const { inputs, runs } = parse(readFileSync(join(root, "action.yml"), "utf8"));
    const [{ run: script, env }] = runs.steps;
    expect(script).not.toContain("${{");
    const used = Object.values<string>(env).flatMap((value) => /inputs\.(\w+)/.exec(value)?.[1] ?? []);
    expect(used.toSorted()).toEqual(Object.keys(inputs).toSorted());
  });
});
