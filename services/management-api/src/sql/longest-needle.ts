/** The maximum length of a search text. The cost of a search grows with its length. */
export const longestNeedle = 1000;
