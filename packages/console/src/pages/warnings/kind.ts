/** All warnings of one type in a time range, as the API counts them. */
export interface Kind {
  type: string;
  severity: string;
  outcome: 'dropped' | 'changed' | 'noted';
  /** Explains the warning and its fix. */
  detail: string;
  rule: string;
  count: number;
  first_at: string;
  last_at: string;
  counts: { start: string; count: number }[];
}

export const keyOf = ({ severity, type }: Kind) => `${severity} ${type}`;

/** Class of the color. The color is always shown together with the word. */
export const toneOf = { dropped: 'bad', changed: 'warn', noted: 'quiet' } as const;
