/**
 * English texts of the frame and of components that pages share. Each page has its own texts in
 * `pages/<page>/words.ts`.
 */

const plural = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');

/** Formats a count, for example as `1 event` or `12 events`. */
export const formatCount = (count: number, one: string, other = `${one}s`) =>
  `${numbers.format(count)} ${plural.select(count) === 'one' ? one : other}`;

export const formatNumber = (value: number) => numbers.format(value);

/**
 * Converts the type of a warning to a title. For example, `message_size_too_large` becomes `Message size too large`.
 */
export function nameOfKind(kind: string): string {
  const words = kind.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

export const words = {
  product: 'Millrace',
  bySingleSignOn: 'Single sign-on',
  byProvider: (name: string) => `Continue with ${name}`,
  noSingleSignOn: 'Single sign-on is not set up for this email address. Use your password or a passkey.',
  skip: 'Skip to content',
  menu: 'Menu',
  documentation: 'Documentation',
  apiReference: 'API reference',
  projectSwitch: 'Switch project',
  newProject: 'New project…',
  organizations: 'Organizations',
  environmentIn: (environment: string | null, zone: string) =>
    environment === null ? zone : `${environment} · ${zone}`,
  palette: {
    title: 'Search and go to',
    open: 'Search',
    label: 'Search pages, insights, flags, persons…',
    results: 'Results',
    none: 'No matches.',
    failed: (reason: string) => `Some results could not be loaded. ${reason}`,
    recent: 'Recent',
    pages: 'Pages',
    projects: 'Projects',
    actionsTitle: 'Actions',
    actions: {
      insight: 'New insight',
      sql: 'New SQL query',
      flag: 'New feature flag',
      cohort: 'New cohort',
      subscription: 'New subscription',
      export: 'New export',
    },
  },
  findProject: 'Find a project',
  noProjectFound: 'No projects match.',
  pagesOfProject: 'Project pages',
  account: 'Account',
  signOut: 'Sign out',
  shortcuts: (areOn: boolean) => `Single-key shortcuts: ${areOn ? 'on' : 'off'}`,
  theme: { label: 'Theme', system: 'System', light: 'Light', dark: 'Dark' },
  close: 'Close',
  cancel: 'Cancel',
  edit: 'Edit',
  undo: 'Undo',
  rename: 'Edit name and description',
  dismiss: 'Dismiss',
  again: 'Try again',
  more: 'Show more',
  sortBy: (column: string) => `Sort by ${column.toLowerCase()}`,
  reload: 'Reload',
  justNow: 'just now',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Could not copy',
  asApiCall: 'View as API call',
  asApiCallText:
    'Run this command in a terminal to get the same data. Set MILLRACE_API_KEY to a personal API key first.',
  asApiCallDoes:
    'Run this command in a terminal to send the same request. Set MILLRACE_API_KEY to a personal API key first.',
  remove: (what: string) => `Remove ${what}`,
  visibleAfter: (seconds: number) => `Ingestion delay: ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`,
  late: (detail: string) => `Events are delayed. ${detail}`,
  lateLink: 'See what is delayed',
  docs: {
    link: 'Read the documentation',
    newWindow: '(opens in a new window)',
    help: 'Help',
    index: 'All documents',
    sections: 'Sections',
    search: 'Search the documentation',
    results: 'Search results',
    nothingFound: 'No section matches your search.',
  },
  outcomes: { dropped: 'dropped', changed: 'stored, but changed', noted: 'stored as sent' },
  refresh: 'Refresh',
  refreshing: 'Refreshing…',
  mayBeOld: 'The data on this page may be out of date. Retrying every ten seconds.',
  unknownInAddress: (names: readonly string[], count: number) => {
    const list = names.length === 0 ? '' : `: ${names.join(', ')}`;
    const parameters = count === 1 ? 'an unknown or invalid parameter' : 'unknown or invalid parameters';
    return `The URL has ${parameters}${list}. All other parameters were applied.`;
  },
  states: {
    loading: 'Loading…',
    failedTitle: (what: string) => `${what} could not be loaded`,
    stale: (what: string) => `${what} could not be loaded. The data shown may be out of date or incomplete.`,
    unreachable: 'The server is not responding. Check your network connection and that Millrace is running.',
    failed: (status: number) => `The server responded with status ${status}.`,
    refusedTitle: 'You do not have access',
    refused: 'Your membership level in this project does not allow this. Ask an organization administrator for access.',
    goneTitle: 'Not found',
    noPageTitle: 'Page not found',
    backTo: (page: string) => `Back to ${page}`,
    gone: 'The item may have been deleted, or the link may be wrong.',
    errorId: 'Error ID',
    tooMany: (seconds: number) => `Too many requests. Retrying in ${formatCount(seconds, 'second')}.`,
    newVersionTitle: 'The console was updated',
    newVersion: 'This page is from an earlier version. Reload it to continue.',
    brokenTitle: 'Something went wrong on this page',
    thePage: 'The page',
  },
  sessionEnded: 'You are no longer signed in',
  sessionEndedText: 'Sign in again to continue. Anything you typed is still here.',
  email: 'Email',
  password: 'Password',
  passwordHint: 'Use at least 8 characters. A short sentence is easy to remember.',
  signIn: 'Sign in',
  byPasskey: 'Use a passkey',
  passkeyGivenUp: 'The passkey request was canceled or timed out. Try again or use another method.',
  passkeyThere: 'This device already has a passkey for your account.',
  code: 'Code',
  codeHint: 'Enter the six-digit code from your authenticator app, or a backup code.',
  rememberFactor: 'Do not ask again in this browser for 30 days',
  pages: {
    home: { title: 'Home', question: 'How is the site doing, and where do visitors come from?' },
    live: { title: 'Live', question: 'Are events arriving, and are any of them dropped?' },
    events: { title: 'Events', question: 'What happened, and when?' },
    persons: { title: 'Persons', question: 'Who are your users, and what did they do?' },
    groups: { title: 'Groups', question: 'Which companies use your product, and who belongs to them?' },
    cohorts: { title: 'Cohorts', question: 'Which users have something in common?' },
    definitions: { title: 'Definitions', question: 'What do your events and properties mean?' },
    insights: { title: 'Insights', question: 'How are your numbers changing over time?' },
    sql: { title: 'SQL', question: 'What else do you want to know about your data?' },
    dashboards: { title: 'Dashboards', question: 'How are things going, at a glance?' },
    flags: { title: 'Feature flags', question: 'Who gets which feature, and why?' },
    warnings: { title: 'Warnings', question: 'Why is an event missing or changed?' },
    health: { title: 'Health', question: 'Are events delayed, and are all services running?' },
    activity: { title: 'Activity', question: 'Who changed what, and when?' },
    settings: { title: 'Settings', question: 'Who has access, and how is the project configured?' },
  },
  /** Names of the sections of the settings. */
  sections: {
    account: 'Account',
    keys: 'Personal API keys',
    project: 'Project and API keys',
    data: 'Data and privacy',
    exports: 'Exports',
    subscriptions: 'Subscriptions',
    organization: 'Organization',
    members: 'Members and invites',
    domains: 'Domains',
    access: 'Access',
  },
  counts: {
    bar: (when: string, count: number) => `${when}: ${formatCount(count, 'event')}`,
    table: 'Show counts as a table',
    when: 'Start',
    count: 'Events',
    narrow: (when: string) => `Show only ${when}`,
  },
  span: {
    time: 'Date range',
    zone: 'Time zone',
    zones: { project: 'Project', own: 'This computer', utc: 'UTC' },
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
    chosen: 'selected',
    other: 'Custom range…',
    otherTitle: 'Custom range',
    inZone: (zone: string) => `Times are in the ${zone} time zone.`,
    from: 'From',
    to: 'To',
    toHint: 'Leave this field empty to include everything up to now.',
    backwards: 'The end must be later than the start.',
    show: 'Apply range',
    freeze: 'Convert to fixed dates',
  },
  noProjectTitle: 'You do not have access to any project yet',
  noProject: 'Ask an organization administrator for access.',
  level: { 1: 'member', 8: 'administrator', 15: 'owner' } as Record<number, string>,
};
