import { formatCount, formatNumber } from '../words.ts';

export const text = {
  result: 'Result',
  null: 'null',
  noRows: 'The query returned no rows.',
  noChart: 'A chart needs a column with times or texts and a column with numbers.',
  noNumber: 'A number needs a column with numbers.',
  cut: (points: number) => `The chart shows the first ${formatCount(points, 'row')} and up to 25 series.`,
  rows: (from: number, to: number, count: number) =>
    `Rows ${formatNumber(from)} to ${formatNumber(to)} of ${formatNumber(count)}`,
  previous: 'Previous page',
  next: 'Next page',
  cell: (column: string) => `Value of ${column}`,
  copyCell: 'Copy value',
  cellHint: 'Select a cell to see its complete value. Press Ctrl+C to copy it.',
  usual: (value: string) => `Default: ${value}`,
  reset: 'Reset',
  firstRows: (count: number) => `The first ${formatCount(count, 'row')} of the result.`,
};
