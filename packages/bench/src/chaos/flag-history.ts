/** A flag from one change of it to the next. */
export interface FlagState {
  version: number;
  isActive: boolean;
  /** When the change to it was sent, and when it was answered (`performance.now()`). */
  sentAt: number;
  answeredAt: number;
}

/** What somebody was told of the flag. */
export interface SeenFlag {
  askedAt: number;
  answeredAt: number;
  /** Null where the answer does not have it: it was switched off. */
  version: number | null;
}

/**
 * How old an answer was: the time from the answer to the change that made it untrue until the question, 0 for one that was
 * true. Infinity for a state that never was.
 * @param history in its order, from a state that was there before the first question.
 */
export function ageOf(seen: SeenFlag, history: readonly FlagState[]): number {
  const index = history.findLastIndex(({ version, isActive, sentAt }) =>
    // What is switched off is not shown, so which of several times it was off is not known: the latest is assumed.
    seen.version === null ? !isActive && sentAt <= seen.answeredAt : isActive && version === seen.version,
  );
  if (index < 0) return Number.POSITIVE_INFINITY;
  const next = history[index + 1];
  return next === undefined ? 0 : Math.max(0, seen.askedAt - next.answeredAt);
}
