import { describeRule, type RecurrenceRule, weekdays } from './rule.ts';

type Words = Pick<RecurrenceRule, 'frequency'> & Partial<RecurrenceRule>;

describe('subscription-013: describing rules in words', () => {
  test.each<[Words, string]>([
    [{ frequency: 'monthly' }, 'sent every month'],
    [
      { frequency: 'monthly', interval: 2, byweekday: ['wednesday'], bysetpos: 1 },
      'sent every 2 months on the first Wednesday',
    ],
    [{ frequency: 'weekly', byweekday: ['wednesday'], bysetpos: -1 }, 'sent every week on the last Wednesday'],
    [{ frequency: 'weekly', byweekday: ['wednesday'] }, 'sent every week'],
    [{ frequency: 'monthly', byweekday: weekdays, bysetpos: 3 }, 'sent every month on the third day'],
    [{ frequency: 'monthly', byweekday: ['monday'], bysetpos: 10 }, 'sent on a schedule'],
    [{ frequency: 'daily', interval: 3 }, 'sent every 3 days'],
    [{ frequency: 'yearly', byweekday: [], bysetpos: 2 }, 'sent every year'],
  ])('describes %j', (words, expected) => {
    expect(describeRule({ interval: 1, byweekday: null, bysetpos: null, ...words })).toBe(expected);
  });
});
