import { formatCsv } from '@millrace/contracts/csv';
import { useRef, useState } from 'react';
import { type ApiCall, call, type Query, readCursor } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { saveCsv } from '../../parts/save-file.ts';
import { explainError } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { ListedEvent } from './list.tsx';
import { text } from './words.ts';

/**
 * Downloads the list as CSV. During the download, the button shows the progress, and pressing it cancels the download.
 */
export function CsvButton({ request, columns }: { request: ApiCall; columns: readonly string[] }) {
  const [rows, setRows] = useState<number | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const reading = useRef<AbortController>(null);
  const read = async () => {
    if (rows !== null) return reading.current?.abort();
    const controller = new AbortController();
    reading.current = controller;
    setRows(0);
    try {
      const { signal } = controller;
      const whole = { path: request.path, query: { ...request.query, cursor: undefined } };
      const { csv, isCut } = await readCsv(whole, { columns, signal, onRows: setRows });
      saveCsv(`events-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.csv`, csv);
      if (isCut) setNote(text.csvHint(maxRows));
    } catch (error) {
      if (!controller.signal.aborted) setNote(explainError(error));
    } finally {
      setRows(null);
    }
  };
  return (
    <>
      <Button onPress={() => void read()}>{rows === null ? text.csv : text.csvRows(rows)}</Button>
      {note !== null && (
        <Dialog title={text.csv} onClose={() => setNote(null)}>
          <p>{note}</p>
          <div className="form-buttons">
            <Button onPress={() => setNote(null)}>{words.close}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/**
 * Maximum number of rows in the CSV. With more rows, the download would take too long, and spreadsheet programs become
 * slow.
 */
const maxRows = 10_000;

/**
 * Reads all events of a list page by page, and formats them as CSV.
 * @param onRows a function that is called with the number of rows read so far
 * @returns the CSV, and whether the list was truncated
 */
async function readCsv(
  request: { path: string; query: Query },
  { columns, signal, onRows }: { columns: readonly string[]; signal: AbortSignal; onRows: (count: number) => void },
): Promise<{ csv: string; isCut: boolean }> {
  const lines = [['timestamp', 'event', 'distinct_id', 'person', 'uuid', ...columns, 'properties']];
  let cursor: string | undefined;
  do {
    const page: { results: ListedEvent[]; next: string | null } = await call(
      { path: request.path, query: { ...request.query, limit: 500, cursor } },
      signal,
    );
    for (const { timestamp, event, distinct_id: distinctId, person, uuid, properties } of page.results) {
      const chosen = columns.map((name) => asText(properties[name]));
      lines.push([timestamp, event, distinctId, person.uuid, uuid, ...chosen, JSON.stringify(properties)]);
    }
    onRows(lines.length - 1);
    cursor = readCursor(page.next);
  } while (cursor !== undefined && lines.length <= maxRows);
  return { csv: formatCsv(lines), isCut: cursor !== undefined };
}

const asText = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
