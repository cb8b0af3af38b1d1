import { formatNumber } from '../words.ts';

export const text = {
  unnamed: 'Without a name',
  bins: ['Seconds', 'Persons'],
  series: 'Series',
  total: 'Total',
  before: 'Before',
  change: 'Change',
  chart: (names: readonly string[], from: string, to: string) =>
    `${names.join(', ')} from ${from} to ${to}. The numbers are in the table.`,
  point: (day: string, values: string) => `${day}: ${values}`,
  converted: 'Converted, percent',
  personsOf: (name: string) => `Persons behind ${name}`,
  personsAt: (name: string, day: string) => `Persons behind ${name}, ${day}`,
  lost: (count: number) => `${formatNumber(count)} lost`,
  step: 'Step',
  reached: 'Persons',
  ofFirst: 'Of the first',
  typical: 'Typical time',
  seconds: (seconds: number | null) => {
    if (seconds === null) return '–';
    if (seconds < 120) return `${formatNumber(Math.round(seconds))} s`;
    if (seconds < 7200) return `${formatNumber(Math.round(seconds / 60))} min`;
    if (seconds < 172_800) return `${formatNumber(Math.round(seconds / 3600))} h`;
    return `${formatNumber(Math.round(seconds / 86_400))} days`;
  },
  begin: 'Begin',
  persons: 'Persons',
  anyEvent: 'All events',
  answer: 'Answer',
  against: 'than before',
  onAverage: 'on average',
  noEvents: 'Nothing happened in this time',
};
