// Event and property definitions in the API's format, and the request that lists them.

import type { ApiCall } from '../../api/request.ts';

/** The definition of an event or a property, with the users' notes and the number of times it was received. */
export interface Definition {
  id: string;
  name: string;
  description: string;
  tags: string[];
  verified: boolean;
  hidden: boolean;
  volume_30_day: number | null;
  volume_is_estimated: boolean;
  query_usage_30_day: number | null;
  /** Time when the event was first received. Undefined for properties. */
  created_at?: string | null;
  last_seen_at?: string | null;
  /** The property's type. Undefined for events. */
  property_type?: string | null;
}

export type Kind = 'events' | 'properties' | 'persons';

export const toDefinitionsPath = (project: number, kind: Kind) =>
  `/api/projects/${project}/${kind === 'events' ? 'event_definitions' : 'property_definitions'}`;

export const orders = ['name', '-name', '-last_seen_at', 'last_seen_at'] as const;

export interface Shown {
  kind: Kind;
  order: (typeof orders)[number];
  search: string;
  show: 'all' | 'visible' | 'verified';
}

export const createDefinitionsRequest = (project: number, { kind, search, show, order }: Shown): ApiCall => ({
  path: toDefinitionsPath(project, kind),
  query: {
    search,
    ordering: order,
    ...(kind !== 'events' && { type: kind === 'persons' ? 'person' : 'event' }),
    ...(show === 'visible' && { exclude_hidden: true }),
    ...(show === 'verified' && { verified: true }),
  },
});
