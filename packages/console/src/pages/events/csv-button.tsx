import { useRef, useState } from 'react';
import type { ApiCall } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { explain } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { mostRows, readCsv, save } from './csv.ts';
import { text } from './words.ts';

/** The view as a file; while it is read the button counts and stops. */
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
      save(`events-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.csv`, csv);
      if (isCut) setNote(text.csvHint(mostRows));
    } catch (error) {
      if (!controller.signal.aborted) setNote(explain(error));
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
