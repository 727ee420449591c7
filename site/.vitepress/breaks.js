/**
 * Allows a line break in long names in narrow tables: after slashes, dots and commas, and between the words of names such as
 * WaveHasNoLeader. Short flag names are never broken, also in a command;
 * theme/wide.css has their class.
 */
export function breaksOfNames(markdown) {
  const { rules } = markdown.renderer;
  const code = rules.code_inline;
  rules.code_inline = (tokens, index, ...rest) => {
    if (/^--\S{1,13}$/.test(tokens[index].content)) tokens[index].attrJoin("class", "unbroken");
    return code(tokens, index, ...rest).replace(/>([^<]+)</, (_, text) => `>${withWholeFlags(breakable(text))}<`);
  };
  rules.text = (tokens, index) => breakable(markdown.utils.escapeHtml(tokens[index].content));
}

function withWholeFlags(text) {
  return text.replace(/(?<= )--?[a-z][a-z-]{0,18}(?=[ =]|$)/g, '<span class="unbroken">$&</span>');
}

function breakable(text) {
  return text
    .replace(/\S{31,}/g, (name) => name.replace(/[/.,](?=.)/g, "$&<wbr>"))
    .replace(/\b(?:[A-Z][a-z]+){3,}\b/g, (name) => name.replace(/[a-z](?=[A-Z])/g, "$&<wbr>"));
}
