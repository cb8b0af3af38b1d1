import { readFileSync } from 'node:fs';
import { type ReleaseRecord, releaseRecordFile } from '../release-record.ts';

export const readReleaseRecord = () => JSON.parse(readFileSync(releaseRecordFile, 'utf8')) as ReleaseRecord;
