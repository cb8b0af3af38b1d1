// Reads an uploaded CSV file that fills a static cohort.

import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MembersToAdd } from '@millrace/flags/cohorts';
import type { FileField } from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import { parse } from 'csv-parse';

const maxRows = 250_000;
const maxRowBytes = 64 * 1024;
/** Maximum length of a value in characters. Longer values are skipped, because IDs and email addresses are shorter. */
const maxValueLength = 400;

/** The recognized column headers in order of preference, and which ID each column contains. */
const columns: readonly [header: string, by: MembersToAdd['by']][] = [
  ['person_id', 'person_id'],
  ['distinct_id', 'distinct_id'],
  ['distinct-id', 'distinct_id'],
  ['email', 'email'],
  ['e-mail', 'email'],
];

export const memberFile: FileField<MembersToAdd> = {
  name: 'csv',
  description:
    `CSV file (UTF-8) with the members of a static cohort, at most 10 MiB and ${maxRows} rows. If the file has ` +
    'several columns, the first of the columns `person_id`, `distinct_id`, `distinct-id`, `email` and ' +
    '`e-mail` that exists is used. A single column without one of these headers is read as distinct IDs. Unknown ' +
    'persons are skipped.',
  maxBytes: 10 * 1024 * 1024,
  read: readMemberFile,
};

/** Reads the file as a stream and keeps only the IDs in memory. @throws AppError `invalid` with attr `csv` */
async function readMemberFile(content: Readable): Promise<MembersToAdd> {
  const rows = parse({
    bom: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: maxRowBytes,
  });
  const list = createMemberList();
  let refusal: AppError | undefined;
  try {
    await pipeline(content, utf8Only(), rows, async (records: AsyncIterable<string[]>) => {
      for await (const record of records) {
        refusal = list.add(record);
        if (refusal !== undefined) throw refusal;
      }
    });
  } catch (cause) {
    // A rejection ends the pipeline, whose stages then fail with errors of their own. Report the rejection instead.
    throw refusal ?? (isAppError(cause) ? cause : fileError('The file could not be read as CSV.', cause));
  }
  return list.members();
}

function createMemberList() {
  const values = new Set<string>();
  let column: Column | undefined;
  let count = 0;
  return {
    /** @returns the reason to reject the file, if any */
    add(record: string[]): AppError | undefined {
      count += 1;
      if (count > maxRows) return fileError(`The file has more than ${maxRows} rows. Split it into several files.`);
      const isHeader = column === undefined && hasHeader(record);
      column ??= columnOf(record);
      if (column === undefined) return fileError('The file has no column named person_id, distinct_id or email.');
      const value = record[column.index];
      if (!isHeader && value && value.length <= maxValueLength && !value.includes('\0')) values.add(value);
      return undefined;
    },
    /** @throws AppError `invalid` */
    members(): MembersToAdd {
      if (column === undefined) throw fileError('The file is empty.');
      if (values.size === 0) throw fileError('The file contains no IDs.');
      return { by: column.by, values: [...values] };
    },
  };
}

interface Column {
  index: number;
  by: MembersToAdd['by'];
}

/**
 * Returns the column that contains the IDs. A file with a single column does not need a header. If it has no header,
 * its first row already contains a distinct ID.
 */
function columnOf(record: string[]): Column | undefined {
  const headers = record.map((header) => header.toLowerCase());
  for (const [header, by] of columns) {
    const index = headers.indexOf(header);
    if (index >= 0) return { index, by };
  }
  return record.length === 1 ? { index: 0, by: 'distinct_id' } : undefined;
}

function hasHeader(record: string[]): boolean {
  return record.some((header) => columns.some(([known]) => known === header.toLowerCase()));
}

function utf8Only(): Transform {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes: Buffer | undefined, isMore: boolean) => {
    try {
      return decoder.decode(bytes, { stream: isMore });
    } catch (cause) {
      throw fileError('The file is not valid UTF-8.', cause);
    }
  };
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      attempt(done, () => decode(piece, true));
    },
    flush(done) {
      attempt(done, () => decode(undefined, false));
    },
  });
}

function attempt(done: (error: Error | null, text?: string) => void, work: () => string): void {
  let text: string;
  try {
    text = work();
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, text);
}

function fileError(detail: string, cause?: unknown): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'csv', cause });
}
