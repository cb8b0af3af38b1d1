/** Input and output streams of a command. `main.ts` passes the process's streams. */
export interface Terminal {
  env: Record<string, string | undefined>;
  /** The current directory. If `npm start` runs a system in this directory, commands use that system by default. */
  directory?: string;
  /** Standard output, which contains only results, so that they can be piped. */
  out: { write(text: string): unknown };
  err: { write(text: string): unknown; isTTY?: boolean };
  input?: NodeJS.ReadableStream;
  /**
   * Aborted when the user interrupts the command. Only commands that run until they are interrupted use this signal.
   */
  readonly interrupted?: AbortSignal;
}

type Field = string | number | boolean | Date | null | readonly string[] | readonly number[];
export type Row = Record<string, Field>;

export interface Printer {
  /** Prints a record as a JSON object or as one line per field. */
  record(row: Row): void;
  /** Prints records of one type as a JSON array or as a table. */
  table(rows: Row[]): void;
  /** Prints a message for people, which is never part of the result. */
  note(sentence: string): void;
}

/**
 * Creates the printer of a command.
 * @param isJson whether to print results as JSON for programs. Times are ISO 8601 in UTC in both formats.
 */
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

function toLabel(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function toText(field: Field): string {
  if (field === null || field === '' || (Array.isArray(field) && field.length === 0)) return '-';
  if (field instanceof Date) return field.toISOString();
  // Replace control characters, which could move the terminal's cursor.
  return (Array.isArray(field) ? field.join(', ') : String(field)).replace(/\p{Cc}/gu, '\uFFFD');
}
