export function printTable(title: string, { rows, notes = [] }: { rows: string[][]; notes?: string[] }): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  process.stdout.write(`\n${title}\n${[...lines, ...notes].join('\n')}\n`);
}
