import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * What a page links to that is no page (a source, a test, a licence) is in the repository alone: here its path is
 * shown instead of a link. Such a file that does not exist fails the build, as a dead link to a page does.
 */
export function repositoryLinks(markdown, root) {
  const rules = markdown.renderer.rules;
  const open = rules.link_open;
  rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet("href") ?? "";
    if (/^([a-z]+:|#|\/)/.test(href) || /\.md(#.*)?$/.test(href)) return open(tokens, index, options, env, self);
    const file = join(dirname(join(root, env.relativePath === undefined ? "" : sourceOf(env))), href);
    if (!existsSync(file)) throw new Error(`dead link in ${env.relativePath}: ${href}`);
    const close = tokens.findIndex((token, at) => at > index && token.type === "link_close");
    tokens[close].meta = { shown: true };
    return `<span title="${relative(root, file)} in the repository">`;
  };
  const end = rules.link_close ?? ((tokens, index, options, _env, self) => self.renderToken(tokens, index, options));
  rules.link_close = (tokens, index, options, env, self) =>
    tokens[index].meta?.shown ? "</span>" : end(tokens, index, options, env, self);
}

/** The path of the page that is rendered, before it was given its address. */
function sourceOf(env) {
  return relative(join(import.meta.dirname, "../.."), env.realPath ?? env.path);
}
