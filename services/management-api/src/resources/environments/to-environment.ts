import { membershipLevels } from '@millrace/contracts';
import { formatDateTime, parseDateTime } from '@millrace/http';
import { defaultModifiers } from './default-modifiers.ts';
import type { EnvironmentRow } from './environment-store.ts';
import { liveEventsToken } from './live-events-token.ts';

export interface Signing {
  secret: string;
  now: Date;
}

/** An environment as the API shows it. */
export function toEnvironment(row: EnvironmentRow, signing: Signing): Record<string, unknown> {
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    live_events_token: liveEventsToken({ environmentId: row.id, apiToken: row.api_token }, signing),
    person_on_events_querying_enabled: true,
    default_modifiers: defaultModifiers,
    product_intents: JSON.stringify(row.product_intents.map(toIntent)),
    user_access_level: accessLevelOf(row.effective_membership_level),
  };
}

/** What a level lets its owner do with an environment (docs/api-rules.md#access-to-an-environment). */
export function accessLevelOf(level: number | null): 'admin' | 'member' | null {
  return level === null ? null : level >= membershipLevels.administrator ? 'admin' : 'member';
}

/** The database writes times inside JSON with its own offset. */
function toIntent(intent: unknown): unknown {
  return Object.fromEntries(
    Object.entries(intent as Record<string, unknown>).map(([field, value]) => {
      const time = field.endsWith('_at') && typeof value === 'string' ? parseDateTime(value) : null;
      return [field, time ? formatDateTime(time) : value];
    }),
  );
}
