import { formatCount } from '../words.ts';

const units: Record<string, string> = {
  s: 'second',
  M: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  m: 'month',
  q: 'quarter',
  y: 'year',
};

export const text = {
  picker: {
    volume: (count: string) => `${count} in 30 days`,
    seen: (ago: string) => `seen ${ago}`,
    unseen: 'not seen yet',
  },
  ranges: {
    label: 'Date range',
    presets: {
      dStart: 'Today',
      '-1dStart|-1dEnd': 'Yesterday',
      '-24h': 'Last 24 hours',
      '-7d': 'Last 7 days',
      '-14d': 'Last 14 days',
      '-30d': 'Last 30 days',
      '-90d': 'Last 90 days',
      '-180d': 'Last 180 days',
      wStart: 'This week',
      '-1wStart|-1wEnd': 'Last week',
      mStart: 'This month',
      '-1mStart|-1mEnd': 'Last month',
      yStart: 'This year',
      all: 'All time',
    },
    custom: 'Custom range…',
    from: 'From',
    to: 'To',
    last: (count: number, unit: string) => `Last ${formatCount(count, units[unit] ?? unit)}`,
    since: (from: string) => `Since ${from}`,
    between: (from: string, to: string) => `${from} to ${to}`,
    /**
     * Describes a relative time, for example as `3 days ago`, `start of this quarter` or `end of the month 2 months
     * ago`.
     */
    time: (count: number, unit: string, edge: string | undefined) => {
      const name = units[unit] ?? unit;
      const ago = `${formatCount(count, name)} ago`;
      if (edge === undefined) return ago;
      return `${edge === 'Start' ? 'start' : 'end'} of ${count === 0 ? `this ${name}` : `the ${name} ${ago}`}`;
    },
  },
  inCohort: 'in cohort',
  notInCohort: 'not in cohort',
  line: (what: string, relation: string, values: string) => `${what} ${relation} ${values}`.trim(),
  or: ' or ',
  addFilter: 'Add filter',
  changeFilter: 'Change filter',
  addFilterOf: (letter: string) => `Filter event ${letter}`,
  /** Labels of the property types that users can filter by. */
  filterOf: {
    event: 'Event property',
    event_metadata: 'Event name',
    person: 'Person property',
    cohort: 'Cohort',
  },
  /** Prefix of a filter's text, as in `person · plan is pro`. */
  owners: { person: 'person', group: 'group' },
  eventName: 'Event name',
  finishFilter: 'Finish adding the filter, or cancel it, before you save.',
  filterType: 'Property type',
  incompleteFilter: 'Choose a property and a value.',
  filterLine: (whose: string, line: string) => `${whose} · ${line}`,
  otherFilter: 'A filter that this page cannot show',
  property: 'Property',
  operator: 'Operator',
  value: 'Value',
  values: 'Values',
  addValue: 'Add a value',
  low: 'From',
  high: 'To',
  cohort: 'Cohort',
  operators: {
    exact: 'is',
    is_not: 'is not',
    icontains: 'contains',
    not_icontains: 'does not contain',
    icontains_multi: 'contains any of',
    not_icontains_multi: 'contains none of',
    starts_with: 'starts with',
    not_starts_with: 'does not start with',
    ends_with: 'ends with',
    not_ends_with: 'does not end with',
    regex: 'matches regex',
    not_regex: 'does not match regex',
    gt: '>',
    gte: '≥',
    lt: '<',
    lte: '≤',
    between: 'is between',
    not_between: 'is not between',
    is_set: 'is set',
    is_not_set: 'is not set',
    is_date_before: 'is before',
    is_date_after: 'is after',
    is_date_exact: 'is on',
    semver_eq: 'version is',
    semver_neq: 'version is not',
    semver_gt: 'version >',
    semver_gte: 'version ≥',
    semver_lt: 'version <',
    semver_lte: 'version ≤',
    semver_tilde: 'version ~',
    semver_caret: 'version ^',
    semver_wildcard: 'version matches wildcard',
  },
};
