// Rules for new passwords (docs/api/passwords.md).

import { AppError } from '@millrace/runtime';

const minLength = 8;
const maxLength = 256;
/** Minimum score, from 0 to 4. A password with a lower score can be guessed in fewer than 10^8 attempts. */
const minScore = 3;
/**
 * Maximum number of characters that are scored. Further characters cannot make a password weaker, and the time for an
 * estimate grows with the square of the length.
 */
const maxJudgedLength = 72;

/**
 * Checks that a password is long enough and hard to guess.
 * @param person the user's email address and name, which an attacker would try first
 * @throws AppError `invalid` naming `password`
 */
export async function checkNewPassword(password: string, person: readonly string[]): Promise<void> {
  const characters = [...password.normalize('NFC')];
  if (characters.length < minLength) throw badPassword(`The password must have at least ${minLength} characters.`);
  if (characters.length > maxLength) throw badPassword(`The password must have at most ${maxLength} characters.`);
  if (password.trim() === '') throw badPassword('The password must not consist only of whitespace.');
  const known = person
    .flatMap((text) => [text, text.split('@')[0] ?? '', ...text.split(/[^\p{L}\p{N}]+/u)])
    .filter((text) => text.length > 2);
  const { guessing } = await import('./guess-password.ts');
  const { score, sequence } = guessing.check(characters.slice(0, maxJudgedLength).join(''), known);
  if (score >= minScore) return;
  const isOwn = sequence.some((match) => 'dictionaryName' in match && match.dictionaryName === 'userInputs');
  throw badPassword(
    isOwn
      ? 'This password is easy to guess for anyone who knows your name or email address. Use several unrelated words.'
      : 'This password is easy to guess. Use a longer one, for example several unrelated words.',
  );
}

function badPassword(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'password' });
}
