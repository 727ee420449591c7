/**
 * The options of the site's search. Both functions are copied into the pages, so they may use only their arguments.
 * https://lucaong.github.io/minisearch/types/MiniSearch.SearchOptions.html
 */
export const searchOptions = {
  /** Ignores stop words, and finds pages about rollouts for words such as restart and reload. */
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
  /** Ranks task pages above decisions, the changelog and pages about the code. */
  boostDocument: (id) =>
    /\/(adr\/|CHANGELOG|CONTRIBUTING|architecture|simulation|releasing|glossary|messages|bench|test)/.test(id)
      ? 0.4
      : 1,
};
