import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { Static, TObject } from 'typebox';
import { schemaFailure } from '../schema/ajv.ts';

/** Longer than any cursor made here; a longer one is not ours. */
const maxLength = 4096;

/**
 * Writes the position after the last row of a page as an opaque word. It is not signed: it holds nothing but the sort key
 * of a row the caller has just read, and is validated like any other input when it comes back.
 */
export function encodeCursor(position: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify(position), 'utf8').toString('base64url');
}

/** @throws AppError `invalid` with attr `cursor` for anything `encodeCursor` of the same list did not write. */
export function decodeCursor<S extends TObject>(schema: S, cursor: string | undefined): Static<S> | null {
  if (cursor === undefined) return null;
  const position = parse(cursor);
  if (holdsNull(position) || schemaFailure(schema, position) !== null)
    throw new AppError('invalid', 'Invalid cursor.', { attr: 'cursor' });
  return position as Static<S>;
}

/** PostgreSQL would refuse such a text; JSON can spell it. */
function holdsNull(position: unknown): boolean {
  return isObject(position) && Object.values(position).some((part) => typeof part === 'string' && part.includes('\0'));
}

function parse(cursor: string): unknown {
  if (cursor.length > maxLength || !/^[\w-]+$/.test(cursor)) return undefined;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
