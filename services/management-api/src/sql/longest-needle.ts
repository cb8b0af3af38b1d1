/** Maximum length of a search string in characters, because the cost of a search grows with this length. */
export const longestNeedle = 1000;
