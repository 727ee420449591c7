import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Shows the path instead of a link if a page links to a file that is not a page, such as a source or a licence. Such files
 * exist only in the repository. If the file does not exist, the build fails, as for a dead link to a page.
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

/** Returns the path of the rendered page in the repository. */
function sourceOf(env) {
  return relative(join(import.meta.dirname, "../.."), env.realPath ?? env.path);
}
