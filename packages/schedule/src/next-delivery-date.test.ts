import { nextDeliveryDate, type RecurrenceRule, type Weekday, weekdays } from './rule.ts';

type Words = Partial<Omit<RecurrenceRule, 'startDate' | 'untilDate'>> & { start: string; until?: string };

const rule = ({ start, until, ...rest }: Words): RecurrenceRule => ({
  frequency: 'daily',
  interval: 1,
  byweekday: null,
  bysetpos: null,
  count: null,
  ...rest,
  startDate: new Date(start),
  untilDate: until === undefined ? null : new Date(until),
});

const next = (now: string, words: Words, { timeZone = 'UTC', previous = null as string | null } = {}) =>
  nextDeliveryDate(rule(words), {
    now: new Date(now),
    previous: previous === null ? null : new Date(previous),
    timeZone,
  })
    ?.toISOString()
    .replace(':00.000Z', 'Z') ?? null;

const monday: Weekday[] = ['monday'];
const every = (start: string, rest: Partial<Words> = {}): Words => ({ start, ...rest });

describe('nextDeliveryDate', () => {
  test.each<[string, string, Words, string | null]>([
    ['weekly', '2025-01-15T12:00Z', every('2022-01-01T00:00Z', { frequency: 'weekly' }), '2025-01-18T00:00Z'],
    ['daily, today', '2025-01-15T09:40Z', every('2022-01-01T10:00Z'), '2025-01-15T10:00Z'],
    [
      'daily, exactly 15 minutes ahead is too late',
      '2025-01-15T09:45Z',
      every('2022-01-01T10:00Z'),
      '2025-01-16T10:00Z',
    ],
    ['daily, not yet started', '2025-01-15T00:00Z', every('2025-03-01T08:00Z'), '2025-03-01T08:00Z'],
    [
      'weekly MO,WE from a Saturday',
      '2025-01-15T00:00Z',
      every('2025-03-01T08:00Z', { frequency: 'weekly', byweekday: ['monday', 'wednesday'] }),
      '2025-03-03T08:00Z',
    ],
    [
      'every 2 weeks MO from a Wednesday',
      '2025-01-15T00:00Z',
      every('2025-01-01T09:00Z', { frequency: 'weekly', interval: 2, byweekday: monday }),
      '2025-01-27T09:00Z',
    ],
    [
      'monthly on the 31st',
      '2025-02-01T00:00Z',
      every('2025-01-31T09:00Z', { frequency: 'monthly' }),
      '2025-03-31T09:00Z',
    ],
    [
      'monthly MO without bysetpos',
      '2025-01-15T00:00Z',
      every('2025-01-01T09:00Z', { frequency: 'monthly', byweekday: monday }),
      '2025-01-20T09:00Z',
    ],
    [
      'monthly first MO',
      '2025-01-15T00:00Z',
      every('2025-01-01T09:00Z', { frequency: 'monthly', byweekday: monday, bysetpos: 1 }),
      '2025-02-03T09:00Z',
    ],
    [
      'monthly last FR',
      '2025-01-15T00:00Z',
      every('2025-01-01T09:00Z', { frequency: 'monthly', byweekday: ['friday'], bysetpos: -1 }),
      '2025-01-31T09:00Z',
    ],
    [
      'monthly on the third day of any weekday',
      '2025-01-15T00:00Z',
      every('2025-01-01T09:00Z', { frequency: 'monthly', byweekday: weekdays, bysetpos: 3 }),
      '2025-02-03T09:00Z',
    ],
    [
      'bysetpos without byweekday',
      '2025-01-15T00:00Z',
      every('2025-01-10T09:00Z', { frequency: 'monthly', bysetpos: 3 }),
      '2025-02-10T09:00Z',
    ],
    [
      'yearly on 29 February',
      '2025-01-15T00:00Z',
      every('2024-02-29T09:00Z', { frequency: 'yearly' }),
      '2028-02-29T09:00Z',
    ],
    ['count is used up', '2025-01-15T00:00Z', every('2022-01-01T00:00Z', { count: 3 }), null],
    ['until has passed', '2025-01-15T00:00Z', every('2022-01-01T00:00Z', { until: '2023-01-01T00:00Z' }), null],
    ['count 0', '2025-01-15T00:00Z', every('2022-01-01T00:00Z', { count: 0 }), null],
  ])('computes the next date: %s', (_name, now, words, expected) => expect(next(now, words)).toBe(expected));

  test('subscription-007: computes consecutive dates of a rule for every 2 months on the last Wednesday or Friday', () => {
    const words = every('2022-01-01T00:00Z', {
      frequency: 'monthly',
      interval: 2,
      byweekday: ['wednesday', 'friday'],
      bysetpos: -1,
    });
    const dates: (string | null)[] = [];
    for (let previous: string | null = null; dates.length < 3; ) {
      previous = next('2022-01-01T00:00Z', words, { previous });
      dates.push(previous);
    }
    expect(dates).toEqual(['2022-01-28T00:00Z', '2022-03-30T00:00Z', '2022-05-27T00:00Z']);
  });

  test('subscription-008: keeps the two-week interval of a rule after the previous date', () => {
    const words = every('2022-01-01T00:00Z', { frequency: 'weekly', interval: 2 });
    expect(next('2022-01-01T00:00Z', words, { previous: '2022-01-02T00:00Z' })).toBe('2022-01-15T00:00Z');
  });

  test.each(['2022-01-11T10:00Z', '2022-01-02T10:00Z'])(
    'subscription-009-S12: skips a date that is less than 15 minutes after the delivery at %s',
    (previous) => {
      expect(next('2022-01-11T09:55Z', every('2022-01-01T10:00Z'), { previous })).toBe('2022-01-12T10:00Z');
    },
  );
});

describe('deliveries at a local time', () => {
  const nine = every('2025-01-06T14:00Z');
  const timeZone = 'America/New_York';
  test.each([
    ['in winter', '2025-03-07T15:00Z', '2025-03-08T14:00Z'],
    ['on the day daylight saving time starts', '2025-03-08T15:00Z', '2025-03-09T13:00Z'],
    ['in summer', '2025-07-01T00:00Z', '2025-07-01T13:00Z'],
    ['on the day daylight saving time ends', '2025-11-01T14:00Z', '2025-11-02T14:00Z'],
  ])('a delivery at nine o’clock in New York stays at nine o’clock %s', (_name, now, expected) => {
    expect(next(now, nine, { timeZone })).toBe(expected);
  });

  test('moves a delivery at a skipped local time forward by the length of the gap: 02:30 becomes 03:30', () => {
    const words = every('2025-03-01T07:30Z');
    expect(next('2025-03-08T08:00Z', words, { timeZone })).toBe('2025-03-09T07:30Z');
    expect(next('2025-03-09T08:00Z', words, { timeZone })).toBe('2025-03-10T06:30Z');
  });

  test('uses the first of two moments if a local time occurs twice', () => {
    expect(next('2025-11-01T12:00Z', every('2025-10-01T05:30Z'), { timeZone })).toBe('2025-11-02T05:30Z');
  });

  test('keeps a start time in the second of two repeated hours', () => {
    expect(next('2025-11-01T12:00Z', every('2025-11-02T06:30Z'), { timeZone })).toBe('2025-11-02T06:30Z');
  });

  test('determines weekdays in the project time zone: Sunday evening in UTC is Monday in Auckland', () => {
    const words = every('2025-06-01T20:00Z', { frequency: 'weekly', byweekday: monday });
    expect(next('2025-06-01T00:00Z', words, { timeZone: 'Pacific/Auckland' })).toBe('2025-06-01T20:00Z');
    expect(next('2025-06-01T00:00Z', words)).toBe('2025-06-02T20:00Z');
  });

  test('treats an unknown time zone as UTC', () => {
    expect(next('2025-01-15T09:40Z', every('2022-01-01T10:00Z'), { timeZone: 'Mars/Olympus' })).toBe(
      '2025-01-15T10:00Z',
    );
  });
});

describe('rules that end, and unusual rules', () => {
  test('includes an occurrence exactly at the until date', () => {
    const words = every('2025-01-01T10:00Z', { until: '2025-01-16T10:00Z' });
    expect(next('2025-01-15T11:00Z', words)).toBe('2025-01-16T10:00Z');
    expect(next('2025-01-16T11:00Z', words)).toBeNull();
  });

  test('counts occurrences from the start of the rule and not from the current time', () => {
    const words = every('2025-01-01T10:00Z', { frequency: 'weekly', count: 3 });
    expect(next('2025-01-10T00:00Z', words)).toBe('2025-01-15T10:00Z');
    expect(next('2025-01-15T10:00Z', words)).toBeNull();
  });

  test.each<[string, Words]>([
    [
      'a position that no month has',
      every('2025-01-01T00:00Z', { frequency: 'monthly', byweekday: monday, bysetpos: 6 }),
    ],
    ['every 7th day, restricted to another weekday', every('2025-01-01T00:00Z', { interval: 7, byweekday: monday })],
    [
      'a 30th of February every year',
      every('2025-01-30T00:00Z', { frequency: 'monthly', interval: 12, until: '2025-01-30T00:00Z' }),
    ],
    ['position 0', every('2025-01-01T00:00Z', { byweekday: monday, bysetpos: 0 })],
    ['a start after the last supported date', every('9999-12-31T23:59Z', { until: '2025-01-01T00:00Z' })],
    ['a huge interval', every('2020-01-01T00:00Z', { frequency: 'yearly', interval: 2_147_483_647 })],
  ])('returns no date for %s', (_name, words) => expect(next('2025-02-01T00:00Z', words)).toBeNull());

  test('computes the next date of a rule with a count that started two thousand years ago', () => {
    expect(next('2025-01-15T00:00Z', every('0001-01-01T10:00Z', { count: 2_000_000 }))).toBe('2025-01-15T10:00Z');
  });

  test('drops fractions of a second from the start', () => {
    expect(next('2025-01-15T09:00Z', every('2022-01-01T10:00:00.999Z'))).toBe('2025-01-15T10:00Z');
  });
});
