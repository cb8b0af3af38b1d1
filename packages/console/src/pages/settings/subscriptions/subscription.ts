// Subscriptions and their deliveries in the format of the API.

import { useProject } from '../../../frame/project.ts';
import { part, useUrlState } from '../../../parts/address.ts';

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Frequency = (typeof frequencies)[number];
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];
export const targetTypes = ['email', 'slack', 'webhook'] as const;
export type TargetType = (typeof targetTypes)[number];

/** The schedule of reports in the format of the API. */
export interface Rule {
  frequency: Frequency;
  interval: number;
  byweekday: Weekday[] | null;
  /** Selects the n-th of these weekdays in each period. Negative numbers count from the end. */
  bysetpos: number | null;
  count: number | null;
  /** The start, including the time of day. */
  start_date: string;
  until_date: string | null;
}

export interface Subscription extends Rule {
  id: number;
  dashboard: number | null;
  insight: number | null;
  target_type: TargetType;
  target_value: string;
  created_at: string;
  created_by: { first_name: string; email: string } | null;
  deleted: boolean;
  /** False if the subscription is paused. */
  enabled: boolean;
  title: string | null;
  /** IDs of the dashboard's insights in the report. If it is empty, the report contains the first six insights. */
  dashboard_export_insights: number[];
  next_delivery_date: string | null;
}

export interface Delivery {
  id: string;
  occasion: string;
  due_at: string;
  target: string;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  attempts: number;
  error: string | null;
  finished_at: string | null;
}

/**
 * `open` is the ID of the open subscription or `new`. It is empty if none is open. `deleted` says whether the list
 * shows deleted subscriptions.
 */
const address = {
  open: part.text(),
  edit: part.flag(),
  deleted: part.flag(),
  /** ID of the insight or dashboard that a new subscription is about. */
  insight: part.text(),
  dashboard: part.text(),
  /** Type of the recipients of a new subscription. */
  type: part.oneOf(['', ...targetTypes], ''),
};
export const useSubscriptionsUrlState = () => useUrlState(address);
export type SubscriptionsUrlState = ReturnType<typeof useSubscriptionsUrlState>;

/** Returns the subject of the reports as the value of an option: `insight 12`, `dashboard 3`, or an empty text. */
export const toSubjectOption = ({ insight, dashboard }: { insight: unknown; dashboard: unknown }) =>
  insight !== null ? `insight ${insight}` : dashboard !== null ? `dashboard ${dashboard}` : '';

/** Returns the query key of all cached subscriptions, or of one. */
export const subscriptionsKey = (projectId: number, id?: string) =>
  id === undefined ? ['subscriptions', projectId] : ['subscriptions', projectId, id];

/** Returns the API path of the project's subscriptions. */
export function useSubscriptionsPath() {
  const { id } = useProject();
  return `/api/projects/${id}/subscriptions`;
}

/** Returns whether the API has masked the URL, which it does for users who are not administrators. */
export const isMasked = (target: string) => target.endsWith('********');

/** Returns the addresses of an email subscription, or the only target of another type. */
export const targetsOf = ({ target_type, target_value }: Pick<Subscription, 'target_type' | 'target_value'>) =>
  target_type === 'email'
    ? target_value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : [target_value];
