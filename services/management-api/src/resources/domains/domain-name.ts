import { randomBytes } from 'node:crypto';
import { AppError } from '@millrace/errors';

/** Labels of letters, digits and single hyphens, at least two of them; `xn--` begins one with other scripts' letters. */
const domainPattern = /^(?:(?:xn--)?[a-z0-9]+(?:-[a-z0-9]+)*\.)+(?:[a-z]{2,}|xn--[a-z0-9]+(?:-[a-z0-9]+)*)$/;

/** @throws AppError `invalid` naming `domain` (docs/api-rules.md#domains; punycode is let in here too). */
export function checkDomainName(name: string): void {
  if (domainPattern.test(name)) return;
  throw new AppError('invalid', 'Please enter a valid domain or subdomain name.', {
    code: 'invalid_input',
    attr: 'domain',
  });
}

export function domainIsTaken(): AppError {
  return new AppError('invalid', 'domain with this domain already exists.', { code: 'unique', attr: 'domain' });
}

/** 43 characters nobody can guess, fit for a TXT record. */
export function newVerificationChallenge(): string {
  return randomBytes(32).toString('base64url');
}
