import { formatDuration } from '@millrace/contracts/numbers';
import { formatCount } from '../../words.ts';

export const text = {
  figures: 'Current state',
  visible: 'Ingestion delay',
  /** Durations below ten seconds always have one decimal, so that the figure's width does not change. */
  seconds: (seconds: number) => (seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds)),
  ofAll: 'highest delay across all projects',
  threshold: (seconds: number) => `late if more than ${formatDuration(seconds)}`,
  stored: 'Stored in the last minute',
  storedMore: 'in this project, excluding imports',
  dropped: 'Dropped in the last minute',
  none: 'none',
  letters: 'Dead letters',
  lettersLink: 'View dead letters',
  noLetters: 'all events could be processed',
  asking: 'loading …',
  events: {
    what: 'The event counts',
    title: 'Events',
    hint: 'Events are counted by their own timestamp. Late events appear at the time when they happened.',
    label: (count: string) => `${count} events in this date range`,
  },
  drops: {
    what: 'The warning counts',
    title: 'Dropped',
    hint: 'The reasons are listed under Warnings.',
    link: 'View warnings',
    label: (count: string) => `${count} dropped in this date range`,
  },
  topics: {
    title: 'Topics',
    hint: 'The figures cover all projects. Waiting events are stored in order, and no events are lost.',
    names: { live: 'live', overflow: 'overflow', historical: 'historical' } as Record<string, string>,
    about: {
      live: 'events from clients',
      overflow: 'projects and distinct IDs with sudden traffic spikes',
      historical: 'imports of historical events',
    } as Record<string, string>,
    heads: {
      topic: 'Topic',
      waiting: 'Waiting',
      oldest: 'Oldest',
      accepted: 'Accepted per minute',
      stored: 'Last stored',
    },
    nothing: '–',
    unknown: 'not known yet',
    never: 'never',
  },
  services: {
    title: 'Services',
    hint: 'This list is based on database connections. A service without a connection has stopped, or has been idle for a while.',
    version: (version: string) =>
      `This page is served by API version ${version}. Other services may run a different version.`,
    names: {
      'ingest-gateway': 'Gateway',
      'event-consumer': 'Event consumer',
      'management-api': 'Management API',
      'delivery-worker': 'Delivery worker',
    } as Record<string, string>,
    connected: (count: number) => formatCount(count, 'connection'),
    absent: 'not connected',
    copiedEvents: (age: string) => `Query results do not include the events of the last ${age} yet.`,
    copiedPersons: (age: string) => `Changes of persons in the last ${age} may be missing, too.`,
    personsOfPostgres: 'Queries read persons from PostgreSQL until all of them have been copied to ClickHouse.',
    withoutSqlRole:
      'SQL queries run with the database role of the API. Run `millrace migrate` with a database user that may create roles, so that they run with a role that can read only events, persons, groups and cohorts.',
  },
  away: (why: string) => `Not available. ${why}`,
};
