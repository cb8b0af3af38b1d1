import { AppError } from '@millrace/errors';
import type { Static, TObject } from 'typebox';
import { nullCharacterError } from '../schema/check-json.ts';
import { parseInput } from '../schema/parse-input.ts';

/** A longer name is not repeated in full. */
const maxNameLength = 100;

/**
 * The query of a request by its route's schema. Of a parameter given twice the last one counts.
 *
 * @throws AppError `invalid` naming the first parameter the route does not know: left unread, a filter would answer with
 *   everything as if that were what was asked for. `format=json`, which generated clients add everywhere, asks for what
 *   every answer is.
 * @param readElsewhere names that are known on every route.
 */
export function parseQuery<Q extends TObject>(
  schema: Q,
  query: URLSearchParams,
  readElsewhere: readonly string[] = [],
): Static<Q> {
  const given = Object.fromEntries(query);
  for (const [name, value] of Object.entries(given)) {
    if (readElsewhere.includes(name)) continue;
    if (!Object.hasOwn(schema.properties, name)) refuseUnknown(name, value, Object.keys(schema.properties));
    else if (value.includes('\0')) throw nullCharacterError([name]);
  }
  return parseInput(schema, given, { trimStrings: false });
}

function refuseUnknown(name: string, value: string, known: string[]): void {
  if (name === 'format' && value === 'json') return;
  const attr = name.slice(0, maxNameLength);
  const detail =
    name === 'format'
      ? 'Answers are JSON: only format=json is understood.'
      : `Unknown query parameter "${attr}". ${known.length > 0 ? `Known here: ${known.join(', ')}.` : 'There are none here.'}`;
  throw new AppError('invalid', detail, { code: 'unknown_parameter', attr });
}
