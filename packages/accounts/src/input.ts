/** What the functions of accounts are given: the checks of single values, and the errors for what is not there. */

import { AppError, isPlainName } from '@millrace/runtime';

/** A field broke a rule; codes and texts follow docs/api/README.md#errors. */
export function invalidField(attr: string, code: string, message: string): AppError {
  return new AppError('invalid', message, { attr, code });
}

/**
 * A required or optional text as it will be stored: without white space around it.
 * @throws AppError `invalid` naming `attr`: blank, longer than `maxLength` characters, or with a null character.
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

/** A name that may appear in emails to other people. @throws AppError as `checkText`, and for several lines or a link. */
export function checkName(
  attr: string,
  value: string,
  limits: { maxLength: number; isBlankAllowed?: boolean },
): string {
  const name = checkText(attr, value, limits);
  if (isPlainName(name)) return name;
  throw invalidField(attr, 'invalid_input', 'A name must be a single line and cannot contain "://".');
}

/** One `@`, something before it, and a host name with a dot or `localhost` after it; no quoting, no white space. */
const emailPattern =
  /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+@(?:localhost|(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]*[\p{L}\p{N}])$/u;

/**
 * The form in which addresses are stored and compared: in lower case. Returns null for an address with characters that have a
 * plain equivalent, such as the Kelvin sign (which would become a `k`) or full-width letters. Otherwise two addresses with
 * different mailboxes would be one account.
 */
export function addressOf(written: string): string | null {
  const email = written.trim();
  return email.normalize('NFKC') === email ? email.toLowerCase() : null;
}

/** An e-mail address as `addressOf` returns it, because people write theirs in both cases. @throws AppError `invalid`. */
export function checkEmail(attr: string, value: string): string {
  const email = addressOf(checkText(attr, value, { maxLength: longestEmail }));
  if (email !== null && emailPattern.test(email)) return email;
  throw invalidField(attr, 'invalid_input', 'Enter a valid email address.');
}

const longestEmail = 254;

/** Whether an account can have the address. */
export function isEmail(text: string): boolean {
  return [...text].length <= longestEmail && emailPattern.test(text);
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** True for a number that can be the id of a row; PostgreSQL would refuse any other with an error of its own. */
export function isRowId(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= 2_147_483_647;
}

/** @param what also the fact `resource` in the error's details, for callers that say which of their inputs was wrong. */
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

/** Answers of an account function to constraints of the database, by constraint name. */
type ConstraintAnswers = Record<string, (cause: unknown) => AppError>;

/**
 * Runs a write and turns the violation of a named constraint into its answer. Checking first and writing then would
 * race with another process; the constraint does not.
 */
export async function answeringConstraints<T>(answers: ConstraintAnswers, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { constraint } = (error ?? {}) as { constraint?: unknown };
    const answer = typeof constraint === 'string' ? answers[constraint] : undefined;
    throw answer ? answer(error) : error;
  }
}
