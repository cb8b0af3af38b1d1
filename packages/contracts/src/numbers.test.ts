import {
  computeChange,
  computeOverallValue,
  formatChange,
  formatDuration,
  formatTick,
  formatValue,
  type NumberFormat,
  readNumberFormat,
} from './numbers.ts';

const ofFilter = (trendsFilter: object) => readNumberFormat({ kind: 'TrendsQuery', trendsFilter });
const number = ofFilter({});
const percent = ofFilter({ aggregationAxisFormat: 'percentage' });
const share = ofFilter({ aggregationAxisFormat: 'percentage_scaled' });
const seconds = ofFilter({ aggregationAxisFormat: 'duration' });
const milliseconds = ofFilter({ aggregationAxisFormat: 'duration_ms' });
const currency = ofFilter({ aggregationAxisFormat: 'currency', aggregationAxisPostfix: ' €' });

describe('formatValue', () => {
  it.each<[number, NumberFormat, string]>([
    [0, number, '0'],
    [-0.001, number, '0'],
    [2415, number, '2,415'],
    [16_562.16, number, '16,562'],
    [999.994, number, '999.99'],
    [22.1428, number, '22.14'],
    [-1234.5, number, '-1,235'],
    [29, percent, '29.0%'],
    [25.84, percent, '25.8%'],
    [0, percent, '0%'],
    [0.04, percent, '<0.1%'],
    [99.96, percent, '100%'],
    [347.63, percent, '348%'],
    [0.258, share, '25.8%'],
    [60, seconds, '1 min'],
    [97_200, seconds, '1 d 3 h'],
    [90_500, milliseconds, '1 min 31 s'],
    [16_562.1, currency, '16,562.10 €'],
    [1_234_567, ofFilter({ aggregationAxisFormat: 'short' }), '1.2M'],
    [16_562.16, ofFilter({ decimalPlaces: 1 }), '16,562.2'],
    [7, ofFilter({ minDecimalPlaces: 2 }), '7.00'],
    [7, ofFilter({ aggregationAxisPrefix: '~', aggregationAxisPostfix: ' kg' }), '~7 kg'],
    [38.461, readNumberFormat({ kind: 'FunnelsQuery' }), '38.5%'],
    [7, readNumberFormat(null), '7'],
  ])('formats %d as %j: %s', (value, format, text) => {
    expect(formatValue(value, format)).toBe(text);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 s'],
    [0.0042, '4.2 ms'],
    [0.35, '350 ms'],
    [4.52, '4.5 s'],
    [59.4, '59 s'],
    [59.6, '1 min'],
    [60, '1 min'],
    [90, '1 min 30 s'],
    [3599.9, '1 h'],
    [7500, '2 h 5 min'],
    [86_399, '1 d'],
    [97_200, '1 d 3 h'],
    [8_640_000, '100 d'],
    [-90, '−1 min 30 s'],
  ])('formats %d seconds as %s', (value, text) => {
    expect(formatDuration(value)).toBe(text);
  });
});

describe('formatTick', () => {
  it.each<[number, NumberFormat, string]>([
    [1500, number, '1.5K'],
    [0.05, number, '0.05'],
    [25, percent, '25%'],
    [0.25, share, '25%'],
    [3600, seconds, '1 h'],
    [1500, currency, '1.5K €'],
  ])('formats %d as %j: %s', (value, format, text) => {
    expect(formatTick(value, format)).toBe(text);
  });
});

describe('computeChange', () => {
  it.each<[number, number | null, NumberFormat, string]>([
    [122.1, 100, number, '+22.1%'],
    [97, 100, number, '−3.0%'],
    [100, 100, number, '0%'],
    [300, 100, number, '+200%'],
    [5, 0, number, '–'],
    [5, null, number, '–'],
    [-5, -10, number, '+50.0%'],
    [38, 35.5, percent, '+2.5 points'],
    [0.38, 0.41, share, '−3 points'],
    [5, 0, percent, '+5 points'],
  ])('describes the change to %d from %d in %j as %s', (now, before, format, text) => {
    expect(formatChange(computeChange(now, before, format), format)).toBe(text);
  });
});

describe('computeOverallValue', () => {
  const [data, count] = [[1, 2, 3], 6];
  const of = (math: string | null) => ({ data, count, action: { math } });
  it.each<[string, Parameters<typeof computeOverallValue>[0], boolean, number, boolean]>([
    ['total counts', of('total'), false, 6, false],
    ['no aggregation', of(null), false, 6, false],
    ['sums', of('sum'), false, 6, false],
    ['unique users', of('dau'), false, 2, true],
    ['averages', of('avg'), false, 2, true],
    ['maximums', of('max'), false, 2, true],
    ['formulas', { data, count, action: null }, false, 2, true],
    ['cumulative unique users', of('dau'), true, 6, false],
    ['unique users of the whole range', { aggregated_value: 5, action: { math: 'dau' } }, false, 5, false],
    ['lifecycles', { data, action: { math: 'total' } }, false, 6, false],
  ])('combines %s into one number', (_, series, isCumulative, value, isAverage) => {
    expect(computeOverallValue(series, isCumulative)).toEqual({ value, isAverage });
  });
});
