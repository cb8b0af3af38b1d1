import { counted } from '../words.ts';

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
  folded: (count: number) => `${counted(count, 'property', 'properties')} beginning with $`,
  more: (count: number) => `Show ${counted(count, 'more property', 'more properties')}`,
  showAll: (characters: number) => `Show all ${counted(characters, 'character')}`,
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
  older: 'Show older events',
};
