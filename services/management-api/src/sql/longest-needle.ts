/** Maximum length of a search text in characters. The cost of a search grows with the length. */
export const longestNeedle = 1000;
