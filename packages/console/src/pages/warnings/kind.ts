/** All warnings of one type in a time range, in the format of the API. */
export interface Kind {
  type: string;
  severity: string;
  outcome: 'dropped' | 'changed' | 'noted';
  /** Explains the warning and how to fix its cause. */
  detail: string;
  rule: string;
  count: number;
  first_at: string;
  last_at: string;
  counts: { start: string; count: number }[];
}

export const keyOf = ({ severity, type }: Kind) => `${severity} ${type}`;

/** The CSS class of each color. The word is always shown too. */
export const toneOf = { dropped: 'bad', changed: 'warn', noted: 'quiet' } as const;
