import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { breaksOfNames } from "./breaks.js";
import { repositoryLinks } from "./repository-links.js";
import { searchOptions } from "./search.js";
import { sections } from "./sections.js";

const site = dirname(import.meta.dirname);
const root = dirname(site);

/** The title that a page has in its first line. */
function titleOf(path) {
  return readFileSync(join(root, path), "utf8").match(/^# (.*)$/m)?.[1] ?? path;
}

const decisions = readdirSync(join(root, "docs/adr")).map((name) => `docs/adr/${name}`);

const wide = [
  ...["annotations", "comparison", "dialects", "errors", "flags", "metrics", "permissions", "security"].map(
    (name) => `docs/${name}.md`,
  ),
  "deploy/chart/README.md",
];

/** Where a page is on the site, by its path in the repository. */
function address(path) {
  return `/${path.replace(/\.md$/, "")}`;
}

const sidebar = sections.map(({ reader, pages }) => ({
  text: reader,
  items: pages.filter(([path]) => existsSync(join(root, path))).map(([path, text]) => ({ text, link: address(path) })),
}));

/** The pages are outside of the folder whose packages they are made with. */
const packagesOfTheSite = {
  name: "packages-of-the-site",
  enforce: "pre",
  resolveId(id, importer, { ssr }) {
    if (!/^vue(\/|$)/.test(id) || importer?.startsWith(site)) return;
    return ssr ? { id, external: true } : this.resolve(id, join(site, "index.js"), { skipSelf: true });
  },
};

/**
 * The site of the docs. Its pages are the Markdown files of the repository as they are, at the addresses that their
 * links have, so that they read the same here and there.
 */
export default {
  title: "Wave",
  description: "Replaces Pods exactly when the ConfigMaps and Secrets that they see have changed",
  lang: "en",
  srcDir: "..",
  srcExclude: ["{src,test,bench,examples,dist,site,coverage,node_modules}/**", "deploy/!(chart)/**", "README.md"],
  outDir: "./dist",
  cleanUrls: true,
  rewrites: { "docs/index.md": "index.md" },
  // Their tables need the room that their outline would take.
  transformPageData: ({ relativePath, frontmatter }) =>
    wide.includes(relativePath) ? { frontmatter: { ...frontmatter, aside: false } } : undefined,
  // No font and no script of another host: it works on a machine without a network.
  head: [["link", { rel: "icon", href: "/wave.svg", type: "image/svg+xml" }]],
  markdown: {
    // As GitHub makes them, so that a link to a place in a page leads there in both.
    anchor: {
      slugify: (title) =>
        title
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
    },
    config: (markdown) => {
      repositoryLinks(markdown, root);
      breaksOfNames(markdown);
    },
  },
  themeConfig: {
    logo: "/wave.svg",
    search: { provider: "local", options: { miniSearch: { searchOptions } } },
    outline: [2, 3],
    nav: [
      { text: "Quick start", link: "/docs/quick-start" },
      { text: "Install", link: "/docs/install" },
      { text: "Annotate", link: "/docs/annotations" },
      { text: "On call", link: "/docs/troubleshooting" },
      { text: "Change the code", link: "/docs/architecture" },
    ],
    sidebar: [
      ...sidebar,
      {
        text: "Decisions",
        collapsed: true,
        items: decisions.map((path) => ({ text: titleOf(path), link: address(path) })),
      },
    ],
  },
  vite: {
    publicDir: join(site, "public"),
    plugins: [packagesOfTheSite],
    ssr: { external: ["vue", "vue/server-renderer"] },
  },
};
