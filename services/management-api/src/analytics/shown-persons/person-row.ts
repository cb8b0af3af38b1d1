// The person columns that the API shows.

import type { Columns } from '@millrace/db';

export interface PersonRow
  extends Columns<'person', 'id' | 'uuid' | 'main_distinct_id' | 'is_identified' | 'created_at'> {
  properties: Record<string, unknown>;
}
