// Subscriptions and their deliveries in the API's format.

import { useProject } from '../../../frame/project.ts';
import { part, useUrlState } from '../../../parts/address.ts';

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Frequency = (typeof frequencies)[number];
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];
export const targetTypes = ['email', 'slack', 'webhook'] as const;
export type TargetType = (typeof targetTypes)[number];

export interface Rule {
  frequency: Frequency;
  interval: number;
  byweekday: Weekday[] | null;
  /** In each period, selects only the n-th day that matches `byweekday`. Negative numbers count from the end. */
  bysetpos: number | null;
  count: number | null;
  /** Start of the schedule, which also determines the time of day. */
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
  /** Whether reports are sent. False if the subscription is paused. */
  enabled: boolean;
  title: string | null;
  /** IDs of the dashboard's insights that the report includes. An empty list stands for the first six insights. */
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
 * `open` is the ID of the open subscription, `new`, or empty if no subscription is open. `deleted` determines whether
 * the list shows deleted subscriptions.
 */
const address = {
  open: part.text(),
  edit: part.flag(),
  deleted: part.flag(),
  /** ID of the insight that a new subscription reports on. */
  insight: part.text(),
  dashboard: part.text(),
  type: part.oneOf(['', ...targetTypes], ''),
};
export const useSubscriptionsUrlState = () => useUrlState(address);
export type SubscriptionsUrlState = ReturnType<typeof useSubscriptionsUrlState>;

/** Returns the insight or dashboard as an option value: `insight 12`, `dashboard 3`, or an empty string. */
export const toSubjectOption = ({ insight, dashboard }: { insight: unknown; dashboard: unknown }) =>
  insight !== null ? `insight ${insight}` : dashboard !== null ? `dashboard ${dashboard}` : '';

/** Returns the query key of one cached subscription or, without an ID, of all subscriptions. */
export const subscriptionsKey = (projectId: number, id?: string) =>
  id === undefined ? ['subscriptions', projectId] : ['subscriptions', projectId, id];

export function useSubscriptionsPath() {
  const { id } = useProject();
  return `/api/projects/${id}/subscriptions`;
}

/** Returns whether the API has masked the webhook URL. It masks URLs for users who are not administrators. */
export const isMasked = (target: string) => target.endsWith('********');

/** Returns the email addresses of an email subscription, or the single target of any other subscription. */
export const getTargets = ({ target_type, target_value }: Pick<Subscription, 'target_type' | 'target_value'>) =>
  target_type === 'email'
    ? target_value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : [target_value];
