// The settings section where users choose what a project captures and how long it stores events.

import { useUrlState } from '../../../parts/address.ts';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { RetentionForm } from './retention.tsx';
import type { Control } from './setting-control.tsx';
import { SettingForm } from './setting-form.tsx';
import { StoredOnly } from './stored-only.tsx';
import { text } from './words.ts';

/**
 * Settings, grouped by purpose. Descriptions of their effects are in `effects/`, which is generated from the table of
 * settings.
 */
const time: Control[] = [
  { name: 'timezone', kind: 'zone' },
  { name: 'week_start_day', kind: 'weekday' },
];
const insights: Control[] = [
  { name: 'test_account_filters', kind: 'filters' },
  { name: 'human_friendly_comparison_periods', kind: 'switch', on: true, off: false },
  { name: 'primary_dashboard', kind: 'dashboard' },
];
const privacy: Control[] = [
  { name: 'anonymize_ips', kind: 'switch', on: true, off: false },
  { name: 'cookieless_server_hash_mode', kind: 'switch', on: 1, off: 0 },
  { name: 'access_control', kind: 'switch', on: true, off: false, isOfOrganization: true },
];
const capture: Control[] = [
  // The API stores an opt-out, but the form shows a switch that is on by default.
  { name: 'autocapture_opt_out', kind: 'switch', on: false, off: true, absent: false },
  { name: 'autocapture_exceptions_opt_in', kind: 'switch', on: true, off: false },
  { name: 'autocapture_web_vitals_opt_in', kind: 'switch', on: true, off: false },
  {
    name: 'autocapture_web_vitals_allowed_metrics',
    kind: 'choices',
    choices: ['CLS', 'FCP', 'INP', 'LCP'],
    needs: 'autocapture_web_vitals_opt_in',
  },
];
const reports: Control[] = [{ name: 'slack_incoming_webhook', kind: 'address' }];

export function DataSection() {
  const { unknown } = useUrlState({});
  return (
    <>
      <AddressHint unknown={unknown} />
      <SettingForm title={text.time} controls={time} />
      <SettingForm title={text.insights} controls={insights} />
      <SettingForm title={text.privacy} controls={privacy} />
      <RetentionForm />
      <SettingForm title={text.capture} about={text.captureText} controls={capture} />
      <SettingForm title={text.reports} controls={reports} />
      <StoredOnly />
    </>
  );
}
