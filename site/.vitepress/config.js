import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repository } from "../../src/lib/project-address.ts";
import { breaksOfNames } from "./breaks.js";
import { commandsOfConsole } from "./commands.js";
import { repositoryLinks } from "./repository-links.js";
import { searchOptions } from "./search.js";
import { sections } from "./sections.js";

const site = dirname(import.meta.dirname);
const root = dirname(site);

/** Returns the title of a page: its first heading, else its path. */
function titleOf(path) {
  return readFileSync(join(root, path), "utf8").match(/^# (.*)$/m)?.[1] ?? path;
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The first screen of the site, above docs/index.md. */
const landing = {
  layout: "home",
  hero: {
    name: "Wave",
    text: "Pods that follow their configuration",
    tagline:
      "Wave restarts Pods when a ConfigMap or Secret that they read has changed, and ignores keys that no Pod reads.",
    image: { src: "/wave.svg", alt: "Wave" },
    actions: [
      { text: "Quick start", link: "/docs/quick-start", theme: "brand" },
      { text: "On call: stop every rollout", link: "/docs/on-call", theme: "alt" },
    ],
  },
  features: [
    {
      title: "Only what must restart",
      details: "A rollout needs a changed key that a Pod reads.",
      link: "/docs/concepts",
    },
    {
      title: "A bad edit stops early",
      details: "One workload rolls first. If it fails, Wave halts the others.",
      link: "/docs/pacing",
    },
    {
      title: "No values of Secrets",
      details: "Wave stores only digests of Secrets.",
      link: "/docs/security",
    },
  ],
};

const decisions = readdirSync(join(root, "contributing/adr")).map((name) => `contributing/adr/${name}`);

const wide = [
  ...["annotations", "comparison", "events", "flags", "metrics", "security"].map((name) => `docs/${name}.md`),
  "deploy/chart/README.md",
];

/** Returns the address of a page on the site, by its path in the repository. */
function address(path) {
  return `/${path.replace(/\.md$/, "")}`;
}

const sidebar = sections.map(({ reader, pages }) => ({
  text: reader,
  collapsed: true,
  items: pages.filter(([path]) => existsSync(join(root, path))).map(([path, text]) => ({ text, link: address(path) })),
}));

/** Resolves Vue from site/node_modules, because the pages are outside of site/. */
const packagesOfTheSite = {
  name: "packages-of-the-site",
  enforce: "pre",
  resolveId(id, importer, { ssr }) {
    if (!/^vue(\/|$)/.test(id) || importer?.startsWith(site)) return;
    return ssr ? { id, external: true } : this.resolve(id, join(site, "index.js"), { skipSelf: true });
  },
};

/**
 * The site of the docs. The pages are the unchanged Markdown files of the repository. Each address is the file's path, so
 * links work both on the site and in the repository.
 */
export default {
  title: "Wave",
  description: "Restarts workloads when the ConfigMaps and Secrets that their Pods read have changed",
  lang: "en",
  srcDir: "..",
  srcExclude: [
    "{src,examples,dist,site,coverage,node_modules}/**",
    "bench/!(README.md)",
    "test/!(comparison.md)",
    "test/*/**",
    "deploy/!(chart)/**",
    "README.md",
  ],
  outDir: "./dist",
  cleanUrls: true,
  rewrites: { "docs/index.md": "index.md" },
  // Wide tables use the space of the page outline.
  transformPageData: ({ relativePath, frontmatter }) => {
    if (relativePath === "index.md") return { frontmatter: { ...frontmatter, ...landing } };
    return wide.includes(relativePath) ? { frontmatter: { ...frontmatter, aside: false } } : undefined;
  },
  // Fonts and scripts come from this host, so the site works without a network.
  head: [["link", { rel: "icon", href: "/wave.svg", type: "image/svg+xml" }]],
  markdown: {
    codeTransformers: [commandsOfConsole],
    // The same anchors as GitHub's, so that links to headings work in both.
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
      { text: "Opt in", link: "/docs/opt-in" },
      { text: "On call", link: "/docs/on-call" },
      { text: "Change the code", link: "/contributing/architecture" },
      { text: version, link: "/CHANGELOG" },
    ],
    editLink:
      repository === undefined
        ? undefined
        : { pattern: ({ filePath }) => `${repository}/edit/main/${filePath}`, text: "Edit this page" },
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
