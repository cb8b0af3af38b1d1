/** Validates input to this package's functions, and creates common errors. */

import { AppError, isPlainName } from '@millrace/runtime';

/** Creates the error for an invalid field. Codes and messages follow docs/api/README.md#errors. */
export function invalidField(attr: string, code: string, message: string): AppError {
  return new AppError('invalid', message, { attr, code });
}

/**
 * Validates a string, and returns it without surrounding whitespace, as it is stored.
 * @throws AppError `invalid` naming `attr` if the string is blank, too long, or contains a null character
 */
export function checkText(
  attr: string,
  value: string,
  { maxLength, isBlankAllowed = false }: { maxLength: number; isBlankAllowed?: boolean },
): string {
  if (typeof value !== 'string') throw invalidField(attr, 'invalid_input', 'Not a valid string.');
  const text = value.trim();
  if (text.includes('\0')) {
    throw invalidField(attr, 'null_characters_not_allowed', 'Null characters are not allowed.');
  }
  if (text === '' && !isBlankAllowed) throw invalidField(attr, 'blank', 'This field may not be blank.');
  if ([...text].length > maxLength) {
    throw invalidField(attr, 'max_length', `Ensure this field has no more than ${maxLength} characters.`);
  }
  return text;
}

/**
 * Validates a name that may appear in emails to other people.
 * @throws AppError like `checkText`, and for a name with several lines or a link
 */
export function checkName(
  attr: string,
  value: string,
  limits: { maxLength: number; isBlankAllowed?: boolean },
): string {
  const name = checkText(attr, value, limits);
  if (isPlainName(name)) return name;
  throw invalidField(attr, 'invalid_input', 'A name must be a single line and cannot contain "://".');
}

/** Matches a local part without quotes or whitespace, `@`, and a host name that contains a dot or is `localhost`. */
const emailPattern =
  /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+@(?:localhost|(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]*[\p{L}\p{N}])$/u;

/**
 * Converts an email address to lower case, as addresses are stored and compared. Returns null if the address contains a
 * look-alike of a plain letter, such as the Kelvin sign (whose lower case is `k`) or a full-width letter. Without this
 * check, the addresses of two different mailboxes could map to the same account.
 */
export function parseEmailAddress(written: string): string | null {
  const email = written.trim();
  return email.normalize('NFKC') === email ? email.toLowerCase() : null;
}

/** Validates an email address and returns it as `parseEmailAddress` does. @throws AppError `invalid`. */
export function checkEmail(attr: string, value: string): string {
  const email = parseEmailAddress(checkText(attr, value, { maxLength: longestEmail }));
  if (email !== null && emailPattern.test(email)) return email;
  throw invalidField(attr, 'invalid_input', 'Enter a valid email address.');
}

const longestEmail = 254;

export function isEmail(text: string): boolean {
  return [...text].length <= longestEmail && emailPattern.test(text);
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Returns true if a number is a possible row ID. PostgreSQL reports an error for numbers outside this range. */
export function isRowId(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= 2_147_483_647;
}

/**
 * Creates the error for a record that does not exist.
 * @param what names the kind of record. The error's details contain it as `resource`, so that callers can tell which input
 *   was wrong.
 */
export function notFound(
  what:
    | 'Organization'
    | 'User'
    | 'Member'
    | 'Invite'
    | 'Project'
    | 'Environment'
    | 'Personal API key'
    | 'Restriction'
    | 'Role'
    | 'Verified domain',
  cause?: unknown,
): AppError {
  return new AppError('not_found', `${what} not found.`, { cause, details: { resource: what } });
}

/** Maps a constraint's name to the function that creates the error for a violation. */
type ConstraintErrors = Record<string, (cause: unknown) => AppError>;

/**
 * Runs a write. If the write violates a known constraint, throws that constraint's error. Unlike a check before the
 * write, this is safe when other processes write at the same time.
 */
export async function mapConstraintErrors<T>(errors: ConstraintErrors, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { constraint } = (error ?? {}) as { constraint?: unknown };
    const createError = typeof constraint === 'string' ? errors[constraint] : undefined;
    throw createError ? createError(error) : error;
  }
}
