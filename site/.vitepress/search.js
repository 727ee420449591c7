/**
 * How the site's search takes a question. Both functions are copied into the pages, so they see nothing but their arguments.
 * https://lucaong.github.io/minisearch/types/MiniSearch.SearchOptions.html
 */
export const searchOptions = {
  /** Words that are in every question find every page. What Wave calls a roll most people call a restart. */
  processTerm: (term) => {
    const word = term.toLowerCase();
    if (
      /^(an?|and|are|as|at|be|by|can|do|does|for|from|how|i|if|in|is|it|its|my|of|on|or|that|the|to|what|when|with)$/.test(
        word,
      )
    )
      return null;
    return /^(restart|reload|redeploy)/.test(word) ? [word, "roll"] : word;
  },
  /** Who searches has something to do: decisions, the changelog and how it is built come after that. */
  boostDocument: (id) => (/\/(adr\/|CHANGELOG|CONTRIBUTING|architecture|simulation|performance)/.test(id) ? 0.4 : 1),
};
