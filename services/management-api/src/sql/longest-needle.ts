/** The most characters of a text that is searched for in other texts. The cost of a search grows with its length. */
export const longestNeedle = 1000;
