import { formatCount } from '../../../words.ts';

/** Formats weekday names. Weekday 0 is Sunday, because 1 January 2023 was a Sunday. */
const weekdays = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });

export const text = {
  time: 'Time',
  insights: 'Insights and dashboards',
  privacy: 'Privacy',
  capture: 'Autocapture',
  captureText: 'A change takes effect within minutes, the next time a page is loaded or an app starts.',
  reports: 'Reports',
  labels: {
    timezone: 'Time zone',
    week_start_day: 'Week starts on',
    test_account_filters: 'Filter out internal and test users',
    human_friendly_comparison_periods: 'Human friendly comparison periods',
    primary_dashboard: 'Primary dashboard',
    anonymize_ips: 'Discard client IP data',
    cookieless_server_hash_mode: 'Cookieless tracking',
    access_control: 'Private to selected members',
    autocapture_opt_out: 'Clicks, inputs and forms',
    autocapture_exceptions_opt_in: 'Exceptions',
    autocapture_web_vitals_opt_in: 'Web vitals',
    autocapture_web_vitals_allowed_metrics: 'Web vitals to capture',
    slack_incoming_webhook: 'Slack incoming webhook',
  },
  weekday: (day: number) => weekdays.format(Date.UTC(2023, 0, 1 + day)),
  noDashboard: 'No primary dashboard',
  dashboard: (id: number) => `Dashboard ${id}`,
  notOffered: (why: string) => `The list could not be loaded. ${why}`,
  discard: 'Discard changes',
  needsOrganization: 'Only organization administrators can change this setting.',

  retention: 'Event retention',
  retentionText:
    'Events and warnings that are older than the limit are permanently deleted within minutes. New events that are older than the limit are dropped. Persons are kept.',
  forever: 'Use the installation’s limit, if one is set',
  forDays: 'Keep events for a number of days',
  days: 'Days',
  shortenTitle: (days: number) => `Delete events older than ${formatCount(days, 'day')}?`,
  shortenText: (day: string) =>
    `All events and warnings from before ${day} will be permanently deleted within minutes. Choosing a longer retention period later does not restore them.`,
  shorten: 'Delete older events',

  stored: 'Settings without effect',
  storedText:
    'These settings exist in PostHog, so scripts and Terraform can set them. The API stores and returns their values, but Millrace does not use them.',
  storedCount: (count: number) => `Show ${formatCount(count, 'setting')}`,
  columns: { setting: 'Setting', value: 'Value', about: 'Why it has no effect' },
  off: 'feature not available',
};
