/** Where a run reads from and writes to; the process's own in `main.ts`. */
export interface Terminal {
  env: Record<string, string | undefined>;
  /** Where it is called: a system that `npm start` runs there is found. */
  directory?: string;
  /** Results only, so that they can be piped. */
  out: { write(text: string): unknown };
  /** Errors and notes. */
  err: { write(text: string): unknown; isTTY?: boolean };
  /** Standard input, for commands that read it. */
  input?: NodeJS.ReadableStream;
  /** Aborts when the person wants a command that runs on to end; asked for by such commands only. */
  readonly interrupted?: AbortSignal;
}

type Field = string | number | boolean | Date | null | readonly string[] | readonly number[];
export type Row = Record<string, Field>;

export interface Printer {
  /** One thing: a JSON object, or a line per field. */
  record(row: Row): void;
  /** Several things of one kind: a JSON array, or a table. */
  table(rows: Row[]): void;
  /** A sentence for a person; never part of the result. */
  note(sentence: string): void;
}

/** @param isJson print results as JSON, for programs. Times are ISO 8601 in UTC either way. */
export function createPrinter(terminal: Terminal, isJson: boolean): Printer {
  const line = (text: string) => void terminal.out.write(`${text}\n`);
  const note = (sentence: string) => void terminal.err.write(`${sentence}\n`);
  if (isJson) {
    return {
      record: (row) => line(JSON.stringify(row, null, 2)),
      table: (rows) => line(JSON.stringify(rows, null, 2)),
      note,
    };
  }
  return {
    note,
    record(row) {
      const width = Math.max(...Object.keys(row).map((name) => toLabel(name).length));
      for (const [name, field] of Object.entries(row)) line(`${toLabel(name).padEnd(width)}  ${toText(field)}`);
    },
    table(rows) {
      const [first] = rows;
      if (!first) return note('(none)');
      const names = Object.keys(first);
      const lines = [names.map(toLabel), ...rows.map((row) => names.map((name) => toText(row[name] ?? null)))];
      const widths = names.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
      for (const cells of lines)
        line(
          cells
            .map((cell, column) => cell.padEnd(widths[column] ?? 0))
            .join('  ')
            .trimEnd(),
        );
    },
  };
}

/** `projectApiKey` → `project api key`. */
function toLabel(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function toText(field: Field): string {
  if (field === null || field === '' || (Array.isArray(field) && field.length === 0)) return '-';
  if (field instanceof Date) return field.toISOString();
  // A control character would move the cursor of whoever reads the table.
  return (Array.isArray(field) ? field.join(', ') : String(field)).replace(/\p{Cc}/gu, '\uFFFD');
}
