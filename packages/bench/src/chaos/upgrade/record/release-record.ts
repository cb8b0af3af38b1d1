import { writeFileSync } from 'node:fs';
import type { Lane } from '@millrace/contracts';
import type { TestTenant } from '@millrace/testing';

/** A record of the log. What is JSON is kept as JSON, so that a person can read it. */
export interface TopicRecord {
  topic: Lane | 'processed' | 'deadLetter';
  key: string | null;
  headers: Record<string, string>;
  value: unknown;
}

export type Row = Record<string, unknown>;

/** What a release has left behind that the next one must read, and what it made of it. */
export interface ReleaseRecord {
  commit: string;
  tenant: Pick<TestTenant, 'projectId' | 'projectApiKey' | 'personalApiKey'>;
  /** The statuses of the requests (`requests.ts`). */
  statuses: number[];
  /** What its gateway wrote for them, in their order. */
  records: TopicRecord[];
  /** Accounts, keys, settings and flags, before any event was processed. */
  tables: Record<string, Row[]>;
  /** What its consumer stored. */
  stored: Record<string, Row[]>;
  /** What its consumer published. */
  published: TopicRecord[];
  /** What its API and its gateway answered then, by path. */
  answers: Record<string, unknown>;
}

/** Kept in the repository. */
export const releaseRecordFile = new URL('./last-release.json', import.meta.url);

export function writeReleaseRecord(record: ReleaseRecord): void {
  writeFileSync(releaseRecordFile, `${JSON.stringify(record, null, 1)}\n`);
}
