/** Longer ones, `Infinity` too, browsers take for none at all: 25 days. */
export const longestTimerMs = 2 ** 31 - 1;
