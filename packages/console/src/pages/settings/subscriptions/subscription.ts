import { useProject } from '../../../frame/project.ts';
import { part, useAddress } from '../../../parts/address.ts';

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Frequency = (typeof frequencies)[number];
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];
export const targetTypes = ['email', 'slack', 'webhook'] as const;
export type TargetType = (typeof targetTypes)[number];

/** When reports come, as the API has it. */
export interface Rule {
  frequency: Frequency;
  interval: number;
  byweekday: Weekday[] | null;
  /** The n-th of these weekdays in each period, from its end when negative. */
  bysetpos: number | null;
  count: number | null;
  /** Also the time of day. */
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
  /** False: paused. */
  enabled: boolean;
  title: string | null;
  /** Insights of the dashboard that are in the report; empty: the first six. */
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

/** `open`: the number of the subscription that is shown, `new`, or nothing. `deleted`: the list of the deleted ones. */
const address = {
  open: part.text(),
  edit: part.flag(),
  deleted: part.flag(),
  /** What a new one is about: the number of an insight or a dashboard. */
  insight: part.text(),
  dashboard: part.text(),
  /** Type of the recipients of a new one. */
  type: part.oneOf(['', ...targetTypes], ''),
};
export const useSubscriptionsAddress = () => useAddress(address);
export type SubscriptionsAddress = ReturnType<typeof useSubscriptionsAddress>;

/** What reports are about, as one choice: `insight 12`, `dashboard 3`, or empty. */
export const aboutOf = ({ insight, dashboard }: { insight: unknown; dashboard: unknown }) =>
  insight !== null ? `insight ${insight}` : dashboard !== null ? `dashboard ${dashboard}` : '';

/** Keys of what is kept of the answers: of all, or of one. */
export const subscriptionsKey = (projectId: number, id?: string) =>
  id === undefined ? ['subscriptions', projectId] : ['subscriptions', projectId, id];

/** Path of the API. */
export function useSubscriptionsPath() {
  const { id } = useProject();
  return `/api/projects/${id}/subscriptions`;
}

/** What is shown in place of an address of the web to whoever is no administrator. */
export const isMasked = (target: string) => target.endsWith('********');

/** Each address of a list of mail addresses; else the one target. */
export const targetsOf = ({ target_type, target_value }: Pick<Subscription, 'target_type' | 'target_value'>) =>
  target_type === 'email'
    ? target_value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : [target_value];
