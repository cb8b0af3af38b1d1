/** All words of the frame and of what pages share, in English. A page has its own beside it: `pages/<page>/words.ts`. */

const plural = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');

/** `1 letter`, `12 letters`. */
export const counted = (count: number, one: string, other = `${one}s`) =>
  `${numbers.format(count)} ${plural.select(count) === 'one' ? one : other}`;

export const formatNumber = (value: number) => numbers.format(value);

/** `message_size_too_large` as words: what a kind of warning is called. */
export function nameOfKind(kind: string): string {
  const said = kind.replaceAll('_', ' ');
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
}

export const words = {
  product: 'Millrace',
  skip: 'Skip to content',
  menu: 'Menu',
  documents: 'Documents',
  projectSwitch: 'Switch project',
  newProject: 'New project …',
  organizations: 'Organizations',
  environmentIn: (environment: string | null, zone: string) =>
    environment === null ? zone : `${environment} · ${zone}`,
  pagesOfProject: 'Pages of the project',
  account: 'Account',
  signOut: 'Sign out',
  theme: { label: 'Theme', system: 'As the system', light: 'Light', dark: 'Dark' },
  close: 'Close',
  cancel: 'Cancel',
  again: 'Try again',
  more: 'Show more',
  reload: 'Reload',
  justNow: 'just now',
  copy: 'Copy',
  copied: 'Copied',
  asApiCall: 'As API call',
  asApiCallText: 'What is shown here, from a terminal. MILLRACE_API_KEY is a personal API key.',
  asApiCallDoes: 'What this does, from a terminal. MILLRACE_API_KEY is a personal API key.',
  remove: (what: string) => `Remove ${what}`,
  clear: 'Clear all',
  visibleAfter: (seconds: number) => `Visible after ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`,
  late: (detail: string) => `Events are late. ${detail}`,
  lateLink: 'What is behind?',
  rules: { link: 'Read the rule', newWindow: '(in a new window)', sections: 'Sections' },
  outcomes: { dropped: 'dropped', changed: 'stored, but changed', noted: 'stored as it was sent' },
  refresh: 'Refresh',
  mayBeOld: 'What is shown may be old; the server is asked again every ten seconds.',
  unknownInAddress: (names: readonly string[]) =>
    `The address has ${names.length === 1 ? 'a part' : 'parts'} this page cannot use: ${names.join(', ')}. The rest holds.`,
  states: {
    loading: 'Loading',
    failedTitle: (what: string) => `${what} could not be loaded`,
    unreachable: 'The server does not answer. Check that it runs and that this machine reaches it.',
    failed: (status: number) => `The server answered with ${status}.`,
    refusedTitle: 'You may not see this',
    refused: 'Your level in this project does not allow it. An administrator of the organization can change that.',
    goneTitle: 'This is not here',
    gone: 'It was deleted, or the address is not right.',
    errorId: 'Error id',
    tooMany: (seconds: number) => `Too many requests. Trying again in ${counted(seconds, 'second')}.`,
    newVersionTitle: 'The console was updated',
    newVersion: 'This page is from the version before. Reload it to go on.',
    brokenTitle: 'This page has an error',
    thePage: 'The page',
  },
  sessionEnded: 'You are no longer signed in',
  sessionEndedText: 'Sign in again to go on. What you have typed stays.',
  email: 'E-mail',
  password: 'Password',
  passwordHint: 'At least 8 characters. A sentence is easier to keep than a riddle.',
  signIn: 'Sign in',
  byPasskey: 'Use a passkey',
  passkeyGivenUp: 'No passkey was used. Try again, or choose another way.',
  passkeyThere: 'This device has a passkey for your account already.',
  code: 'Code',
  codeHint: 'Six digits of your authenticator app, or a backup code.',
  rememberFactor: 'Do not ask again in this browser for 30 days',
  pages: {
    live: { title: 'Live', question: 'Does it arrive, and as what?' },
    events: { title: 'Events', question: 'What happened?' },
    persons: { title: 'Persons', question: 'Who is this, and what did they do?' },
    groups: { title: 'Groups', question: 'Which companies, and who is in them?' },
    insights: { title: 'Insights', question: 'How many, against before?' },
    dashboards: { title: 'Dashboards', question: 'How is it going, at a glance?' },
    flags: { title: 'Flags', question: 'Who gets what, and why?' },
    warnings: { title: 'Warnings', question: 'Why is it not there?' },
    health: { title: 'Health', question: 'Is it late, and is anything down?' },
    activity: { title: 'Activity', question: 'Who changed what, and when?' },
    settings: { title: 'Settings', question: 'Who may do what, and how does it behave?' },
  },
  /** Of the settings. */
  sections: {
    account: 'Account',
    keys: 'Personal API keys',
    project: 'Project and its keys',
    data: 'Data and privacy',
    exports: 'Exports',
    subscriptions: 'Subscriptions',
    organization: 'Organization',
    members: 'Members and invites',
    domains: 'Domains',
    access: 'Access',
  },
  counts: {
    bar: (when: string, count: number) => `${when}: ${counted(count, 'event')}`,
    table: 'Counts as a table',
    when: 'From',
    count: 'Events',
    narrow: (when: string) => `Only from ${when} on`,
  },
  span: {
    time: 'Time',
    zone: 'Time zone',
    zones: { project: 'The project’s', own: 'This computer’s', utc: 'UTC' },
    presets: {
      '-1h': 'Last hour',
      '-24h': 'Last 24 hours',
      '-7d': 'Last 7 days',
      '-30d': 'Last 30 days',
      '-90d': 'Last 90 days',
      '-3y': 'Last 3 years',
    },
    since: (from: string) => `Since ${from}`,
    fromTo: (from: string, to: string) => `${from} to ${to}`,
    chosen: 'chosen',
    other: 'Another time …',
    otherTitle: 'Another time',
    inZone: (zone: string) => `Times of ${zone}.`,
    from: 'From',
    to: 'To',
    toHint: 'Empty: until now.',
    backwards: 'The end has to be later than the beginning.',
    show: 'Show this time',
    freeze: 'Freeze: keep exactly this time',
  },
  noProjectTitle: 'You belong to no project yet',
  noProject: 'An administrator of your organization can give you access.',
  level: { 1: 'member', 8: 'administrator', 15: 'owner' } as Record<number, string>,
};
