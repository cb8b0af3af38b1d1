import { formatCount } from '../words.ts';

function durationOf(minutes: number): string {
  if (minutes < 1) return 'under 1 min';
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const text = {
  what: 'This event',
  goneTitle: 'Event not found',
  gone: (seconds: number | null) => {
    const delay = seconds === null ? 'a moment' : `about ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    return `Events are visible ${delay} after they arrive. If this event was dropped, the Warnings page shows the reason.`;
  },
  close: 'Close event',
  openPerson: 'Open person',
  copyCurl: 'Copy as curl',
  copyJson: 'Copy JSON',
  tabs: { properties: 'Properties', person: 'Person', raw: 'Raw' },
  tabList: 'Event details',
  search: 'Search properties',
  noneFound: 'No properties match your search.',
  noProperties: 'There are no properties.',
  folded: (count: number) => `${formatCount(count, 'more property', 'more properties')} set by the SDK`,
  more: (count: number) => `Show ${formatCount(count, 'more property', 'more properties')}`,
  showAll: (characters: number) => `Show all ${formatCount(characters, 'character')}`,
  showLess: 'Show less',
  only: 'Show only events with this value',
  not: 'Hide events with this value',
  column: 'Add as column',
  copyValue: 'Copy value',
  openLink: 'Open link',
  facts: {
    event: 'event',
    distinctId: 'distinct ID',
    uuid: 'UUID',
    person: 'person',
    ids: 'distinct IDs',
  },
  times: 'Times',
  happened: 'event time',
  byClient: 'client time',
  sent: 'sent',
  received: 'received',
  stored: 'stored',
  clockRight:
    'The event time is the time sent by the client. The client and server clocks differed by less than a second.',
  clockWrong: (span: string, isBehind: boolean) =>
    `The client’s clock was ${span} ${isBehind ? 'behind' : 'ahead'} when the event was sent, so the event time was corrected.`,
  noSending: 'The client did not report when it sent the event, so the event time was not corrected.',
  arrival: 'The event had no valid timestamp, so its arrival time is used.',
  session: (minutes: number, count: number) => `Session · ${durationOf(minutes)} · ${formatCount(count, 'event')}`,
  older: 'Show older events',
  noDetails: 'No further details are available.',
  bytes: (count: string) => `${count} bytes`,
  /** Labels of warning details by their API names. */
  findings: {
    event: 'event',
    distinctId: 'distinct ID',
    distinct_id: 'distinct ID',
    illegalDistinctId: 'illegal distinct ID',
    sourceDistinctId: 'ID to merge',
    targetDistinctId: 'ID to merge into',
    otherDistinctId: 'other ID',
    origin: 'sent from',
    user_agent: 'user agent',
    path: 'request path',
    field: 'invalid field',
    reason: 'reason',
    message: 'message',
    bytes: 'size',
    max_bytes: 'maximum size',
    maxBytes: 'maximum size',
    receivedType: 'received type',
    groupKey: 'group key',
    groupTypes: 'group types',
    groupTypeIndex: 'group type index',
    maxCharacters: 'maximum characters',
    parts: 'omitted parts',
    timestamp: 'timestamp as sent',
    sent_at: 'sent at',
    eventsPerMonth: 'events per month',
    eventsPerSecond: 'events per second',
    personId: 'person',
    index: 'position in the request',
    uuid: 'event UUID',
    eventUuid: 'event UUID',
    firstEventUuid: 'UUID of the first event',
  } as Record<string, string>,
};
