import { counted } from '../../words.ts';

export const text = {
  figures: 'How it stands now',
  visible: 'Visible after',
  seconds: (seconds: number) => {
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 120) return `${Math.round(seconds)} s`;
    return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  },
  ofAll: 'at most; of all projects',
  threshold: (seconds: number) => `late: over ${Math.round(seconds / 60)} min`,
  stored: 'Stored, last minute',
  storedMore: 'of this project, imports left out',
  dropped: 'Dropped, last minute',
  none: 'none',
  letters: 'Dead letters waiting',
  lettersLink: 'Look at them',
  noLetters: 'every event could be processed',
  asking: 'asking …',
  events: {
    what: 'The counts of events',
    title: 'Events',
    hint: 'By their own time. Those that are late appear where they belong.',
    label: (count: string) => `${count} events in this time`,
  },
  drops: {
    what: 'The counts of warnings',
    title: 'Dropped',
    hint: 'By reason under Warnings.',
    link: 'Why?',
    label: (count: string) => `${count} dropped in this time`,
  },
  lanes: {
    title: 'Lanes of the log',
    hint: 'Of all projects. What waits is stored as soon as its turn comes; nothing is lost.',
    names: { live: 'live', overflow: 'overflow', historical: 'historical' } as Record<string, string>,
    about: {
      live: 'what clients send',
      overflow: 'keys and ids that suddenly send very much',
      historical: 'imports of past events',
    } as Record<string, string>,
    heads: { lane: 'Lane', waiting: 'Waiting', oldest: 'Oldest', accepted: 'Accepted a minute', stored: 'Last stored' },
    nothing: '–',
    unknown: 'not known yet',
    never: 'never',
  },
  services: {
    title: 'Services',
    hint: 'As PostgreSQL sees them: a service without a connection does not run, or had nothing to ask for a while.',
    version: (version: string) => `The API that answers is version ${version}. What others run, only they know.`,
    names: {
      'ingest-gateway': 'Gateway',
      'event-consumer': 'Event consumer',
      'management-api': 'Management API',
      'delivery-worker': 'Delivery worker',
    } as Record<string, string>,
    connected: (count: number) => counted(count, 'connection'),
    absent: 'not seen',
  },
  away: (why: string) => `Not known now. ${why}`,
};
