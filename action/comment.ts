// Writes a comment on the pull request of a GitHub workflow: `node comment.ts TITLE FILE`. A comment with the same title is updated.
import { readFileSync } from "node:fs";

interface Comment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly type: string } | null;
}

const [title = "", file = ""] = process.argv.slice(2);
const {
  GITHUB_API_URL: api,
  GITHUB_REPOSITORY: repository,
  GITHUB_EVENT_PATH: event = "",
  GITHUB_TOKEN: token,
} = process.env;
const { pull_request: pull }: { pull_request?: { number: number } } = JSON.parse(readFileSync(event, "utf8"));

/** Sends a request to GitHub and returns its response. @throws Error with the status, without the token. */
async function github<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${api}/repos/${repository}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "user-agent": "wave" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    const hint = response.status === 403 ? "; give the job the permission pull-requests: write" : "";
    throw new Error(`GitHub responded to ${method} ${path} with ${response.status}${hint}`);
  }
  return (await response.json()) as T;
}

/** Returns the comment of a program that begins with the mark; undefined if there is none. */
async function findComment(number: number, mark: string): Promise<Comment | undefined> {
  for (let page = 1; ; page++) {
    const path = `/issues/${number}/comments?per_page=100&page=${page}`;
    const comments = await github<readonly Comment[]>("GET", path);
    // A person may begin a comment with the mark. It stays theirs.
    const found = comments.find(({ body, user }) => user?.type === "Bot" && body.startsWith(mark));
    if (found !== undefined || comments.length < 100) return found;
  }
}

try {
  if (pull === undefined) throw new Error("the workflow does not run for a pull request; use `on: pull_request`");
  const mark = `<!-- wave: ${title.replaceAll(/[^\w .,:/-]/g, "")} -->`;
  const body = `${mark}\n### ${title}\n\n${readFileSync(file, "utf8")}`;
  const old = await findComment(pull.number, mark);
  if (old === undefined) await github("POST", `/issues/${pull.number}/comments`, { body });
  else if (old.body !== body) await github("PATCH", `/issues/comments/${old.id}`, { body });
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
