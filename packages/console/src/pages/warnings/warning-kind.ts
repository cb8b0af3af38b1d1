/** All warnings of one type in a time range, in the API's format. */
export interface WarningKind {
  type: string;
  severity: string;
  outcome: 'dropped' | 'changed' | 'noted';
  /** Explains the warning, and how to fix its cause. */
  detail: string;
  rule: string;
  count: number;
  first_at: string;
  last_at: string;
  counts: { start: string; count: number }[];
}

export const getWarningKindKey = ({ severity, type }: WarningKind) => `${severity} ${type}`;

/** The CSS class of each outcome. Color is not the only indication, because the outcome is also shown as a word. */
export const outcomeClasses = { dropped: 'bad', changed: 'warn', noted: 'quiet' } as const;
