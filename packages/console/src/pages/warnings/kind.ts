/** All warnings of a type in a time range, in the API's format. */
export interface Kind {
  type: string;
  severity: string;
  outcome: 'dropped' | 'changed' | 'noted';
  /** Explains the warning, and how to fix the cause. */
  detail: string;
  rule: string;
  count: number;
  first_at: string;
  last_at: string;
  counts: { start: string; count: number }[];
}

export const getKindKey = ({ severity, type }: Kind) => `${severity} ${type}`;

/** CSS class of each outcome. The interface always shows the outcome as a word too. */
export const toneOf = { dropped: 'bad', changed: 'warn', noted: 'quiet' } as const;
