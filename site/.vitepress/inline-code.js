/**
 * The name of a flag is not broken at its hyphens, least of all between the first two, unless it is a long one in a narrow
 * table. theme/wide.css has the class.
 */
export function unbrokenFlags(markdown) {
  const { rules } = markdown.renderer;
  const render = rules.code_inline;
  rules.code_inline = (tokens, index, ...rest) => {
    if (/^--\S{1,13}$/.test(tokens[index].content)) tokens[index].attrJoin("class", "unbroken");
    return render(tokens, index, ...rest);
  };
}
