/** Maximum length of a search string in characters. The cost of a search grows with this length. */
export const longestNeedle = 1000;
