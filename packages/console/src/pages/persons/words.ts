import { counted } from '../../words.ts';

export const text = {
  what: 'Persons',
  person: 'This person',
  search: 'Search by email, name or distinct ID',
  list: 'Persons',
  columns: { name: 'Person', ids: 'Distinct IDs', place: 'Location', seen: 'First seen', lastSeen: 'Last seen' },
  neverSeen: 'no events',
  countFailed: (reason: string) => `The persons could not be counted. ${reason}`,
  listSeenFailed: (reason: string) => `The last-seen times could not be loaded. ${reason}`,
  identified: 'identified',
  anonymous: 'anonymous',
  idCount: (count: number) => counted(count, 'distinct ID'),
  more: 'Show more persons',
  noneYet: 'The search ran out of time. No persons found so far.',
  continueSearch: 'Continue search',
  emptyTitle: 'No persons yet',
  empty:
    'A person is created when a visitor’s first event arrives. When a user signs in, call identify in your SDK to set ' +
    'the user’s email and name, and to link earlier events to the same person.',
  setUp: 'Set up an SDK',
  noMatchTitle: 'No persons match your search',
  noMatch: 'Try searching for part of an email address, a name or a distinct ID.',
  showAll: 'Show all persons',
  close: 'Close person',
  firstSeen: (when: string) => `First seen ${when}`,
  lastSeen: (when: string) => `Last seen ${when}`,
  lastSeenFailed: (reason: string) => `The latest event could not be loaded. ${reason}`,
  location: 'Location',
  device: 'Device',
  cohorts: 'This person’s cohorts',
  noCohortsTitle: 'Not in any cohort',
  noCohorts: 'A person is in a cohort if they match its conditions, or if they were added to its list.',
  remove: 'Delete',
  copyJson: 'Copy as JSON',
  tabs: {
    properties: 'Properties',
    ids: 'Distinct IDs',
    events: 'Events',
    cohorts: 'Cohorts',
    flags: 'Feature flags',
  },
  noPropertiesTitle: 'No properties',
  noProperties: 'Set person properties with $set in an event, or with identify.',
  idsHint:
    'These distinct IDs all belong to one person. The first is the main ID. Events sent with any of these IDs belong to this person.',
  uuid: 'UUID',
  moved: (count: number) => (count === 1 ? 'reassigned once' : `reassigned ${count} times`),
  merges: 'Merge history',
  mergesHint:
    'Merges are not recorded separately. This history is based on the stored events that requested a merge, oldest first.',
  noMerges: 'None of this person’s stored events requested a merge.',
  joined: (own: string, other: string) => `${own} and ${other} were merged into one person`,
  notJoined: (own: string, other: string) =>
    `${own} requested a merge with ${other}, but ${other} does not belong to this person. Either the merge was rejected, or the ID was reassigned later.`,
  unexplained: (count: number) =>
    count === 1
      ? 'No stored event shows how this ID was added to this person. The event was deleted or was sent by another person.'
      : 'No stored event shows how the following IDs were added to this person. The events were deleted or were sent by other persons.',
  events: 'This person’s events',
  noEventsTitle: 'No events',
  noEvents: 'This person’s stored events appear here, newest first.',
  flags: 'This person’s feature flags',
  noFlagsTitle: 'No feature flags',
  noFlags: 'Once the project has feature flags, this tab shows their values for this person.',
  deletion: {
    title: (name: string) => `Delete ${name}?`,
    what: (ids: number) =>
      [
        `The person and ${counted(ids, 'distinct ID')} are deleted immediately and cannot be restored.`,
        'Personal data in events and warnings is removed in the background.',
        'If another event arrives with one of these IDs, a new person is created.',
      ].join(' '),
    withEvents: 'Also delete this person’s events',
    type: 'Type this to confirm',
    verb: 'Delete person',
    title2: 'This person was deleted',
    doing: 'The deletion status',
    statuses: {
      waiting: 'Waiting to start',
      running: 'In progress',
      completed: 'Completed: all personal data is removed',
    } as Record<string, string>,
    deletedEvents: (count: number) => `${counted(count, 'event')} deleted so far`,
    strippedEvents: (count: number) => `Personal data removed from ${counted(count, 'event')} so far`,
    by: (who: string, when: string) => `Deleted by ${who} ${when}`,
  },
};
