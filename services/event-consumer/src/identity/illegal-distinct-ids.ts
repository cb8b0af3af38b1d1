import { isLongerThan } from '@millrace/contracts';
import { maxIdCharacters } from '../values/text-length.ts';

/** Placeholders of broken clients, in any letter case. Merged once, they would glue strangers together. */
const illegalInAnyCase = [
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
];

/** Empty values turned into text, in exactly this spelling; `Null` may well be somebody's name. */
const illegalAsWritten = ['[object Object]', 'NaN', 'None', 'none', 'null', '0', 'undefined'];

const anyCase = new Set(illegalInAnyCase.flatMap(withQuotedForms));
const asWritten = new Set(illegalAsWritten.flatMap(withQuotedForms));

/**
 * True for a distinct id that must not take part in a merge (docs/ingestion-rules.md#illegal-distinct-ids). An ordinary
 * event may carry it and gets its own person.
 */
export function isIllegalDistinctId(id: string): boolean {
  return (
    id.trim() === '' ||
    asWritten.has(id) ||
    anyCase.has(id.toLowerCase()) ||
    id.includes('\u0000') ||
    isLongerThan(id, maxIdCharacters)
  );
}

function withQuotedForms(value: string): string[] {
  return [value, `'${value}'`, `"${value}"`];
}
