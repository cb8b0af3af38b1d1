import { readFileSync } from 'node:fs';

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** What the reporter of a run of jest has written; as one failure when jest did not come to its end. */
export function readCounts(countsFile: string): TestCounts {
  try {
    return JSON.parse(readFileSync(countsFile, 'utf8')) as TestCounts;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

export function sumOf(counts: readonly TestCounts[]): TestCounts {
  const sum = (of: (one: TestCounts) => number) => counts.reduce((total, one) => total + of(one), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
  };
}
