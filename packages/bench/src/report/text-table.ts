/** Rows as aligned columns: the first to the left, the others to the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

/** `1234567.8` → `1,234,568`; below 100 one decimal. */
export function readable(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}

/** A target with its verdict; never prints "met" for a figure that could not be measured. */
export function verdict(name: string, value: number, target: { atMost: number } | { atLeast: number }): string {
  const [bound, isMet] =
    'atMost' in target
      ? [`at most ${readable(target.atMost)}`, value <= target.atMost]
      : [`at least ${readable(target.atLeast)}`, value >= target.atLeast];
  const shown = Math.abs(value) < 10 ? value.toFixed(2) : readable(value);
  return `${isMet ? 'MET    ' : 'NOT MET'}  ${name}: ${shown} (target ${bound})`;
}
