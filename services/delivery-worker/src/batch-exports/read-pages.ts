import type { Transaction } from '@millrace/db';
import { fetchRows } from './export-source-store.ts';
import type { EventRecord, PersonRecord } from './records/export-records.ts';

const targetBytes = 4 * 1024 * 1024;
const maxRows = 2000;

/**
 * The rows of the open cursor in pages of about 4 MiB: the number of rows follows the size of the last ones, so that large
 * events do not fill the memory.
 */
export async function* readPages<Row extends EventRecord | PersonRecord>(tx: Transaction): AsyncGenerator<Row[]> {
  for (let count = 50; ; ) {
    const rows = await fetchRows<Row>(tx, count);
    if (rows.length > 0) yield rows;
    if (rows.length < count) return;
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
    count = Math.max(1, Math.min(maxRows, count * 4, Math.floor((targetBytes * rows.length) / bytes)));
  }
}

function sizeOf(row: EventRecord | PersonRecord): number {
  return 300 + row.properties.length + ('person_properties' in row ? row.person_properties.length : 0);
}
