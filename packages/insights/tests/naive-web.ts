/** A simple reference implementation of web analytics. */

export interface WebEvent {
  event: string;
  person: string;
  time: number;
  session: string | null;
  path: string | null;
  source: string | null;
  browser: string | null;
}

export interface NaiveWebQuery {
  /** Start of the range. The end is exclusive. */
  from: number;
  to: number;
  browser: string | null;
  entryPath: string | null;
}

interface Visit {
  person: string;
  views: WebEvent[];
  first: WebEvent;
  last: WebEvent;
  seconds: number;
  isBounce: boolean;
}

const isView = ({ event }: WebEvent) => event === '$pageview' || event === '$screen';

/** Returns the sessions that started in the range, with their selected page views. */
function visitsOf(events: readonly WebEvent[], { from, to, browser, entryPath }: NaiveWebQuery): Visit[] {
  const sessions = new Map<string, WebEvent[]>();
  for (const event of [...events].sort((a, b) => a.time - b.time)) {
    if (event.session === null) continue;
    sessions.set(event.session, [...(sessions.get(event.session) ?? []), event]);
  }
  return [...sessions.values()].flatMap((all): Visit[] => {
    const [first, last] = [all.find(isView), all.findLast(isView)];
    const [begin, end] = [all[0]?.time ?? 0, all.at(-1)?.time ?? 0];
    const isSelected = (one: WebEvent) =>
      one.time >= from && one.time < to && (browser === null || one.browser === browser);
    const views = all.filter((one) => isView(one) && isSelected(one));
    const [someone] = views.map(({ person }) => person).sort();
    if (first === undefined || last === undefined || someone === undefined || begin < from || begin >= to) return [];
    if (entryPath !== null && first.path !== entryPath) return [];
    const clicks = all.filter(({ event }) => event === '$autocapture').length;
    const isBounce = all.filter(isView).length === 1 && clicks === 0 && end - begin < 10_000;
    return [{ ...{ person: someone, views, first, last, isBounce }, seconds: (end - begin) / 1000 }];
  });
}

const mean = (numbers: number[]) =>
  numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const percent = (share: number | null) => (share === null ? null : 100 * share);
const bounces = (visits: readonly Visit[]) => mean(visits.map(({ isBounce }) => (isBounce ? 1 : 0)));
const visitors = (visits: readonly Visit[]) => new Set(visits.map(({ person }) => person)).size;

export function naiveOverview(events: readonly WebEvent[], query: NaiveWebQuery): (number | null)[] {
  const visits = visitsOf(events, query);
  return [
    visitors(visits),
    visits.flatMap(({ views }) => views).length,
    visits.length,
    mean(visits.map(({ seconds }) => seconds)),
    percent(bounces(visits)),
  ];
}

export type NaiveBreakdown = 'Page' | 'InitialPage' | 'ExitPage' | 'InitialUTMSource' | 'Browser';

/** Returns the value, visitors, views and bounce rate of each row. The row with the most visitors comes first. */
export function naiveTable(events: readonly WebEvent[], query: NaiveWebQuery, by: NaiveBreakdown): unknown[][] {
  const visits = visitsOf(events, query);
  const valuesOf = ({ views, first, last }: Visit): (string | null)[] => {
    switch (by) {
      case 'Page':
        return views.map(({ path }) => path);
      case 'Browser':
        return views.map(({ browser }) => browser);
      case 'InitialPage':
        return [first.path];
      case 'ExitPage':
        return [last.path];
      case 'InitialUTMSource':
        return [first.source];
      default:
        return by satisfies never;
    }
  };
  const isOfView = by === 'Page' || by === 'Browser';
  const values = [...new Set(visits.flatMap(valuesOf))].filter((value) => value !== null || by === 'InitialUTMSource');
  const rows = values.map((value) => {
    const own = visits
      .filter((visit) => valuesOf(visit).includes(value))
      .map((visit) => {
        const views = isOfView
          ? visit.views.filter((view) => (by === 'Page' ? view.path : view.browser) === value)
          : visit.views;
        // The visit counts for one person: the first of those who have a view with this value.
        return { ...visit, views, person: views.map(({ person }) => person).sort()[0] ?? '' };
      });
    const rated = by === 'Page' ? own.filter(({ first, views }) => views.includes(first)) : own;
    return [value, visitors(own), own.flatMap(({ views }) => views).length, bounces(rated)];
  });
  const rank = (value: unknown) => (value === null ? '\uffff' : String(value));
  return rows.sort(
    (a, b) => Number(b[1]) - Number(a[1]) || Number(b[2]) - Number(a[2]) || (rank(a[0]) < rank(b[0]) ? -1 : 1),
  );
}
