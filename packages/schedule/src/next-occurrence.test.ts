import fc from 'fast-check';
import rrule from 'rrule';
import { frequencies, nextOccurrence, type RecurrenceRule, weekdays } from './rule.ts';

const { RRule } = rrule;
const dayMs = 86_400_000;
const firstMoment = Date.UTC(2019, 0, 1);

/** Computes the next occurrence with the rrule library, in UTC, where the library is reliable. */
function libraryNext(rule: RecurrenceRule, after: Date): Date | null {
  const byweekday = rule.byweekday?.length ? rule.byweekday.map((name) => weekdays.indexOf(name)) : null;
  const options = {
    freq: { daily: RRule.DAILY, weekly: RRule.WEEKLY, monthly: RRule.MONTHLY, yearly: RRule.YEARLY }[rule.frequency],
    interval: rule.interval,
    dtstart: rule.startDate,
    until: rule.untilDate,
    count: rule.count,
    wkst: RRule.MO,
    byweekday,
    bysetpos: byweekday ? rule.bysetpos : null,
  };
  return new RRule(options).after(after);
}

const anyRule = fc
  .record({
    frequency: fc.constantFrom(...frequencies),
    interval: fc.integer({ min: 1, max: 5 }),
    byweekday: fc.option(fc.uniqueArray(fc.constantFrom(...weekdays))),
    bysetpos: fc.option(fc.integer({ min: -6, max: 6 }).filter((position) => position !== 0)),
    count: fc.option(fc.integer({ min: 1, max: 60 })),
    startDate: fc.integer({ min: 0, max: 1500 * 24 }).map((hours) => new Date(firstMoment + hours * 3_600_000)),
    untilDate: fc.option(fc.integer({ min: 0, max: 3000 }).map((days) => new Date(firstMoment + days * dayMs))),
  })
  // Exclude rules for which the library deviates from RFC 5545. In the week of the start, the library counts positions
  // only among the days that remain of the week. For a position before the first day of a set, it returns the first
  // day, although RFC 5545 selects nothing.
  .filter(({ frequency, byweekday, bysetpos }) => {
    if (!byweekday?.length || bysetpos === null) return true;
    return frequency === 'daily' ? Math.abs(bysetpos) === 1 : frequency !== 'weekly' && bysetpos >= -4;
  });

test('computes the same occurrences as the rrule library', () => {
  fc.assert(
    fc.property(anyRule, fc.integer({ min: -100, max: 3000 }), (rule, days) => {
      const after = new Date(firstMoment + days * dayMs + 7_200_000);
      expect(nextOccurrence(rule, after, 'UTC')).toEqual(libraryNext(rule, after));
    }),
    { numRuns: 500 },
  );
});

test('continuing from any date yields the same dates as starting from the beginning, even across clock changes', () => {
  const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago');
  fc.assert(
    fc.property(anyRule, zones, fc.integer({ min: 0, max: 40 }), (rule, zone, steps) => {
      let walked: Date | null = new Date(rule.startDate.getTime() - 1);
      let before = walked;
      for (let step = 0; step <= steps && walked; step += 1) {
        before = walked;
        walked = nextOccurrence(rule, walked, zone);
      }
      if (walked) expect(walked.getTime()).toBeGreaterThan(before.getTime());
      // The next date after a moment just before the second date is the second date.
      const between = new Date((walked?.getTime() ?? before.getTime() + dayMs) - 1);
      if (between.getTime() >= before.getTime()) expect(nextOccurrence(rule, between, zone)).toEqual(walked);
    }),
    { numRuns: 200 },
  );
});

test('bysetpos counts all matching weekdays of a week, even those before the start', () => {
  const rule: RecurrenceRule = {
    frequency: 'weekly',
    interval: 1,
    byweekday: ['monday', 'friday'],
    bysetpos: 1,
    count: null,
    startDate: new Date('2025-01-01T09:00Z'),
    untilDate: null,
  };
  expect(nextOccurrence(rule, new Date('2025-01-01T00:00Z'), 'UTC')).toEqual(new Date('2025-01-06T09:00Z'));
});
