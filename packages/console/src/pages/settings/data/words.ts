import { counted } from '../../../words.ts';

/** By the number of a day, from 0 for Sunday. 1 January 2023 was a Sunday. */
const weekdays = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });

export const text = {
  time: 'Time',
  insights: 'Insights and dashboards',
  privacy: 'Privacy',
  capture: 'What browsers and apps capture by themselves',
  captureText: 'Programs hear of a change within minutes: when a page is loaded or an app starts.',
  reports: 'Reports',
  /** Of the setting; what it does is said by the table of settings. */
  labels: {
    timezone: 'Time zone',
    week_start_day: 'Week starts on',
    test_account_filters: 'Filter out internal and test users',
    human_friendly_comparison_periods: 'Compare with the same days of the week',
    primary_dashboard: 'Primary dashboard',
    anonymize_ips: 'Discard addresses',
    cookieless_server_hash_mode: 'Count visitors without cookies',
    access_control: 'Private to some members',
    autocapture_opt_out: 'Clicks, inputs and forms',
    autocapture_exceptions_opt_in: 'Exceptions',
    autocapture_web_vitals_opt_in: 'Web vitals',
    autocapture_web_vitals_allowed_metrics: 'Which of them',
    slack_incoming_webhook: 'Incoming webhook of Slack',
  },
  weekday: (day: number) => weekdays.format(Date.UTC(2023, 0, 1 + day)),
  noDashboard: 'No primary dashboard',
  dashboard: (id: number) => `Dashboard ${id}`,
  notOffered: (why: string) => `The list could not be loaded. ${why}`,
  discard: 'Discard changes',
  needsOrganization: 'An administrator of the organization can change this.',

  retention: 'How long events are kept',
  retentionText:
    'Older events are deleted for good within minutes, and with them warnings that old; events that come that old are dropped. Persons stay.',
  forever: 'As long as the installation keeps them',
  forDays: 'For this many days',
  days: 'Days',
  shortenTitle: (days: number) => `Delete events older than ${counted(days, 'day')}?`,
  shortenText: (day: string) =>
    `Everything that happened before ${day} is deleted within minutes, and warnings that old. A longer time does not bring it back.`,
  shorten: 'Keep less',

  stored: 'Stored, and nothing more',
  storedText:
    'PostHog has these settings too, so scripts and Terraform may write them. They are kept and shown by the API as they were written; nothing here acts on them.',
  storedCount: (count: number) => `Show ${counted(count, 'setting')}`,
  columns: { setting: 'Setting', value: 'Value', about: 'Why it does nothing' },
  off: 'of a feature that is not here',
};
