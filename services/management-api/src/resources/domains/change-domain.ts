import { AppError } from '@millrace/errors';
import type { Static } from 'typebox';
import { checkDomainName, newVerificationChallenge } from './domain-name.ts';
import type { domainChanges } from './domain-schema.ts';
import type { DomainRow } from './domain-store.ts';

/**
 * A domain after a PATCH (docs/api-rules.md#domains). Another name is another proof: the reference kept the old
 * one, by which an organization could call any domain its own.
 *
 * @param mayProvision whether the organization's plan has automatic provisioning.
 * @throws AppError `invalid` naming the field: `verification_required`, `feature_not_available`, or a name that is none.
 */
export function changeDomain(row: DomainRow, changes: Static<typeof domainChanges>, mayProvision: boolean): DomainRow {
  if (changes.domain !== undefined) checkDomainName(changes.domain);
  if (row.verified_at === null) refuseUntilVerified(changes);
  if (changes.jit_provisioning_enabled === true && !mayProvision) {
    throw new AppError('invalid', 'Automatic provisioning is not enabled for this organization.', {
      code: 'feature_not_available',
      attr: 'jit_provisioning_enabled',
    });
  }
  const changed = { ...row, ...changes };
  return changed.domain === row.domain ? changed : withoutProof(changed);
}

function refuseUntilVerified(changes: Static<typeof domainChanges>): void {
  const field = (['jit_provisioning_enabled', 'sso_enforcement'] as const).find((name) => changes[name] !== undefined);
  if (field === undefined) return;
  throw new AppError('invalid', 'This attribute cannot be updated until the domain is verified.', {
    code: 'verification_required',
    attr: field,
  });
}

function withoutProof(row: DomainRow): DomainRow {
  return {
    ...row,
    verified_at: null,
    verification_challenge: newVerificationChallenge(),
    jit_provisioning_enabled: false,
    sso_enforcement: '',
  };
}
