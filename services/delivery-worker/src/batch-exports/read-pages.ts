import type { Transaction } from '@millrace/db';
import { fetchRows } from './export-source-store.ts';
import type { EventRecord, PersonRecord } from './records/export-records.ts';

const targetBytes = 4 * 1024 * 1024;
const maxRows = 2000;
/** Rows that come at once, however large they turn out to be: small ones may be followed by such of nearly a megabyte each. */
const maxFetched = 32;

/**
 * The rows of the open cursor in pages of about 4 MiB. They are fetched a few at a time, fewer when the last ones were large, so
 * that no mixture of small and large events fills the memory.
 */
export async function* readPages<Row extends EventRecord | PersonRecord>(tx: Transaction): AsyncGenerator<Row[]> {
  let page: Row[] = [];
  let pageBytes = 0;
  for (let count = maxFetched; ; ) {
    const rows = await fetchRows<Row>(tx, count);
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
    page.push(...rows);
    pageBytes += bytes;
    const isLast = rows.length < count;
    if (page.length > 0 && (isLast || pageBytes >= targetBytes || page.length >= maxRows)) {
      yield page;
      page = [];
      pageBytes = 0;
    }
    if (isLast) return;
    count = Math.max(1, Math.min(maxFetched, Math.floor((targetBytes * rows.length) / bytes)));
  }
}

function sizeOf(row: EventRecord | PersonRecord): number {
  return 300 + row.properties.length + ('person_properties' in row ? row.person_properties.length : 0);
}
