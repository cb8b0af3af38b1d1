import { formatDateTime } from '@millrace/http';
import { defaultModifiers } from '../environments/default-modifiers.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { type Signing, toEnvironment } from '../environments/to-environment.ts';

/**
 * A project as the API shows it (docs/api-rules.md#projects): its own name, description and dates,
 * everything else of its first environment. What the contract types as text is text.
 */
export function toProject(row: EnvironmentRow, signing: Signing): Record<string, unknown> {
  return {
    ...toEnvironment(row, signing),
    id: row.project_id,
    name: row.project_name,
    created_at: formatDateTime(row.project_created_at),
    updated_at: formatDateTime(later(row.updated_at, row.project_updated_at)),
    person_on_events_querying_enabled: 'true',
    default_modifiers: JSON.stringify(defaultModifiers),
  };
}

function later(one: Date, other: Date): Date {
  return new Date(Math.max(one.getTime(), other.getTime()));
}
