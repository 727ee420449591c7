import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { root } from "./fences.ts";

/** A page of the built site. */
export interface BuiltPage {
  /** The address without the suffix, for example `/docs/pacing`. */
  readonly address: string;
  readonly html: string;
  /** The anchors in the page. */
  readonly anchors: ReadonlySet<string>;
  /** The links of the page to addresses of the site, with their anchors. */
  readonly links: readonly string[];
}

/** Builds the site into a new folder, as `npm run docs` does. Resolves to the path of the folder. */
export async function buildSite(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "wave-site-"));
  await promisify(execFile)(join(root, "site/vitepress"), ["build", "--outDir", folder]);
  return folder;
}

/** Returns the pages of a built site by their addresses. */
export function builtPages(folder: string): ReadonlyMap<string, BuiltPage> {
  const pages = globSync("**/*.html", { cwd: folder })
    .filter((path) => path !== "404.html")
    .map((path): BuiltPage => {
      const html = readFileSync(join(folder, path), "utf8");
      const address = `/${path.replace(/(^|\/)index\.html$|\.html$/, "")}`;
      const anchors = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => decodeURIComponent(id ?? "")));
      const links = [...html.matchAll(/<a [^>]*href="([^":]*)"/g)].map(([, href]) => absolute(address, href ?? ""));
      return { address, html, anchors, links };
    });
  return new Map(pages.map((page) => [page.address, page]));
}

function absolute(address: string, href: string): string {
  if (href.startsWith("#")) return address + href;
  return href.startsWith("/") ? href : resolve(dirname(address), href);
}
