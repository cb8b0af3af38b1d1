import { formatNumber } from '../words.ts';

export const text = {
  unnamed: 'Untitled',
  bins: ['Time to convert (seconds)', 'Persons'],
  series: 'Series',
  total: 'Total',
  average: 'Average',
  value: 'Value',
  before: 'Previous',
  change: 'Change',
  chart: (names: readonly string[], from: string, to: string) =>
    `Chart of ${names.join(', ')} from ${from} to ${to}. The table contains the values.`,
  point: (day: string, values: string) => `${day}: ${values}`,
  converted: 'Conversion rate (%)',
  personsOf: (name: string) => `Persons: ${name}`,
  personsAt: (name: string, day: string) => `Persons: ${name}, ${day}`,
  lost: (count: number) => `${formatNumber(count)} dropped off`,
  step: 'Step',
  reached: 'Persons',
  ofFirst: 'Conversion rate',
  typical: 'Median time',
  seconds: (seconds: number | null) => {
    if (seconds === null) return '–';
    if (seconds < 120) return `${formatNumber(Math.round(seconds))} s`;
    if (seconds < 7200) return `${formatNumber(Math.round(seconds / 60))} min`;
    if (seconds < 172_800) return `${formatNumber(Math.round(seconds / 3600))} h`;
    return `${formatNumber(Math.round(seconds / 86_400))} days`;
  },
  begin: 'Date',
  persons: 'Persons',
  anyEvent: 'All events',
  answer: 'Result',
  against: 'vs. previous period',
  onAverage: 'on average',
  weightedMean: 'Weighted mean',
  inProgress: 'This period is still in progress.',
  noEvents: 'No matching events in this date range',
};
