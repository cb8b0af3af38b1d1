import type { Static } from 'typebox';
import type { FlagFields } from './flag-row.ts';
import type { flagChanges, newFlag } from './flag-schema.ts';

export type FlagChanges = Static<typeof flagChanges>;
export type NewFlag = Static<typeof newFlag>;

const defaults: Omit<FlagFields, 'key'> = {
  name: '',
  filters: {},
  active: true,
  deleted: false,
  archived: false,
  ensure_experience_continuity: false,
  bucketing_identifier: null,
  evaluation_runtime: 'all',
  evaluation_contexts: [],
  tags: [],
  is_remote_configuration: false,
  has_encrypted_payloads: false,
  has_enriched_analytics: false,
  rollback_conditions: [],
  performed_rollback: false,
};

/** A new flag with its defaults, but for its filters, which are checked on their own. */
export function fieldsOfNew(body: NewFlag): FlagFields {
  return withChanges({ ...defaults, key: body.key }, body);
}

/** What is not sent stays as it is. Filters stay in any case. */
export function withChanges(fields: FlagFields, changes: FlagChanges): FlagFields {
  const {
    filters: _,
    version: __,
    original_flag: ___,
    evaluation_tags,
    evaluation_contexts,
    name,
    ...others
  } = changes;
  return {
    ...fieldsOf(fields),
    ...others,
    name: name === undefined ? fields.name : (name ?? ''),
    evaluation_contexts: evaluation_contexts ?? evaluation_tags ?? fields.evaluation_contexts,
    // Who turns a flag on again has looked at why it was rolled back.
    ...(changes.active === true && { performed_rollback: false }),
  };
}

/** The fields alone, of a row that may have more. */
export function fieldsOf(fields: FlagFields): FlagFields {
  const names = ['key', ...Object.keys(defaults)] as (keyof FlagFields)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as unknown as FlagFields;
}
