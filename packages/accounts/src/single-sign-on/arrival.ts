/**
 * Who somebody is whom a sign-in provider sends: the account that is linked, the one with the address, or a new one
 * (docs/api-rules.md#single-sign-on).
 */

import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { recordActivity, recordOwnActivity } from '../activity/record-activity.ts';
import { acceptInvite } from '../invites/accept-invite.ts';
import { findPendingInvite } from '../invites/invite-store.ts';
import { isInviteExpired } from '../invites/invites.ts';
import { keepKeysToMemberships, lockKeysOf } from '../keys/personal-api-key-store.ts';
import { isKeptOut } from '../members/kept-out.ts';
import { findMember } from '../members/member-store.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import {
  type AddressDomain,
  deleteProofs,
  findAddressDomain,
  insertIdentity,
  noteProved,
  type ProviderKind,
  useIdentity,
} from '../sign-in/provider-store.ts';
import { endSessionsOf } from '../sign-in/sessions.ts';
import { confirmEmail, findUser, setCurrentEnvironment, type User } from '../users/user-store.ts';
import { changeEmail, createUser } from '../users/users.ts';
import { domainOfAddress, enforcedProvider, type Installed } from './enforcement.ts';

/** What a provider says of somebody, once its answer was found to be its own, fresh, and meant for us. */
export interface ProviderAnswer {
  kind: ProviderKind;
  /** The domain whose own provider it is; null for a provider of the installation. */
  domainId: string | null;
  /** Whom it means, in its own words: what stays when an address changes. */
  subject: string;
  /** In lower case; null where it tells none. */
  email: string | null;
  /** For the provider of a domain: whether it may speak for the addresses in it. */
  isEmailVerified: boolean;
  firstName: string;
  lastName: string;
}

export type ArrivalRefusal =
  | 'account_disabled'
  | 'no_email'
  | 'email_not_verified'
  | 'other_domain'
  | 'kept_out'
  | 'jit_not_enabled'
  | 'no_new_organizations'
  | { enforced: ProviderKind };

export type Arrival =
  | { outcome: 'refused'; reason: ArrivalRefusal }
  | {
      outcome: 'arrived';
      user: User;
      /** The domain of the address, where somebody has verified it. */
      domain: AddressDomain | undefined;
      /** What the person is to be told of by mail. */
      changed: ('linked' | 'claimed')[];
      /** The address before, where the provider gave another. */
      emailBefore: string | null;
      /** Whether this sign-in is what an enforcement waited for. */
      isEnforcedNow: boolean;
    };

/** By which key a provider's subjects are told from another's. */
export const providerKey = ({ kind, domainId }: { kind: ProviderKind; domainId: string | null }) =>
  domainId === null ? kind : `${kind}:${domainId}`;

/**
 * Finds or makes the account of somebody a provider sends, and makes it a member where the domain of its address provides
 * for that. The lock of the organization comes first, as for every change of who belongs to it: of two first sign-ins at
 * the same moment the second finds what the first has made.
 */
export async function arrive(
  tx: Transaction,
  answer: ProviderAnswer,
  { now, installed }: { now: Date; installed: Installed },
): Promise<Arrival> {
  const provider = providerKey(answer);
  const { email, subject, domainId } = answer;
  const known = await useIdentity(tx, { provider, subject });
  const linked = known === undefined ? undefined : await findUser(tx, { id: known });
  const address = email ?? linked?.email ?? null;
  if (address === null) return refused('no_email');
  if (linked === undefined && !answer.isEmailVerified) return refused('email_not_verified');

  const name = domainOfAddress(address);
  const seen = await findAddressDomain(tx, name);
  if (seen) await lockOrganization(tx, seen.organization_id);
  const domain = seen && (await findAddressDomain(tx, name));
  // A provider speaks for the addresses of its own domain alone.
  const isForeign = linked !== undefined && domainOfAddress(linked.email) !== domain?.domain;
  if (domainId !== null && (domain?.id !== domainId || isForeign)) return refused('other_domain');
  const enforced = domain ? enforcedProvider(domain, installed) : null;
  const isOwnInstead = enforced === 'oidc' && domain?.has_oidc === true && domainId === null;
  if (enforced !== null && (enforced !== answer.kind || isOwnInstead)) return refused({ enforced });

  const found = linked ?? (await findUser(tx, { email: address }));
  if (found && !found.is_active) return refused('account_disabled');
  const entry = domain && (await entryOf(tx, domain, { user: found, address, now }));
  if (!found && (entry === undefined || typeof entry === 'string')) {
    return refused(entry === 'kept out' ? 'kept_out' : domain ? 'jit_not_enabled' : 'no_new_organizations');
  }

  const changed: ('linked' | 'claimed')[] = [];
  let user = found ?? (await createArrived(tx, answer, address));
  await lockKeysOf(tx, user.id);
  if (!linked) {
    if (found && !found.is_email_verified) {
      await claim(tx, user);
      changed.push('claimed');
    }
    if (!(await insertIdentity(tx, { provider, subject, user_id: user.id, domain_id: domainId }))) {
      throw new AppError('conflict', 'This sign-in was used for another account at the same moment. Please try again.');
    }
    if (found) {
      changed.push('linked');
      const change = { type: 'User', action: 'created', field: 'sign_in_provider', before: null } as const;
      await recordOwnActivity(tx, user, { activity: 'updated', changes: [{ ...change, after: answer.kind }] });
    }
  }
  const emailBefore = user.email;
  if (linked && domainId !== null && (await takesAddress(tx, user, address))) {
    await changeEmail(tx, user, address);
    user = { ...user, email: address };
  }
  if (domain && entry && typeof entry !== 'string') await enter(tx, domain, { user, entry, now });
  const isEnforcedNow = domain !== undefined && (await prove(tx, domain, { user, kind: answer.kind, installed }));
  return {
    outcome: 'arrived',
    user,
    domain,
    changed,
    emailBefore: emailBefore === user.email ? null : emailBefore,
    isEnforcedNow,
  };
}

const refused = (reason: ArrivalRefusal): Arrival => ({ outcome: 'refused', reason });

/** How somebody becomes a member of the organization of a domain; undefined for who is one or may not. */
async function entryOf(
  tx: Transaction,
  { organization_id: organizationId, provisions, features }: AddressDomain,
  { user, address, now }: { user: User | undefined; address: string; now: Date },
): Promise<{ invite: string } | { level: 1 } | 'kept out' | undefined> {
  if (user && (await findMember(tx, { organizationId, userId: user.id }))) return undefined;
  const invite = await findPendingInvite(tx, organizationId, address);
  if (invite && !isInviteExpired(invite, now)) return { invite: invite.id };
  if (!provisions || !hasPlanFeature(features, 'automatic_provisioning')) return undefined;
  if (await isKeptOut(tx, organizationId, address)) return 'kept out';
  return { level: membershipLevels.member };
}

async function enter(
  tx: Transaction,
  { organization_id: organizationId }: AddressDomain,
  { user, entry, now }: { user: User; entry: { invite: string } | { level: 1 }; now: Date },
): Promise<void> {
  if ('invite' in entry) {
    await acceptInvite(tx, entry.invite, { now, chooseUser: async () => user });
    return;
  }
  await addMember(tx, { organizationId, userId: user.id, level: entry.level, actor: { userId: user.id } });
  if (user.current_organization_id !== null) return;
  await setCurrentEnvironment(tx, user.id, { organizationId, environmentId: user.current_environment_id });
}

async function createArrived(tx: Transaction, { firstName, lastName }: ProviderAnswer, email: string): Promise<User> {
  const cut = (text: string) => [...text].slice(0, 150).join('');
  const names = { firstName: cut(firstName), lastName: cut(lastName) };
  const user = await createUser(tx, { email, ...names, isEmailVerified: true });
  const about = { organizationId: null, scope: 'User', itemId: user.uuid, name: email } as const;
  await recordActivity(tx, { ...about, activity: 'created', actor: { userId: user.id } });
  return user;
}

/**
 * An account whose address was never proved may have been prepared by somebody else. It is the owner's of the address now:
 * nothing that was set up before signs in any more, and its keys reach no further than they did.
 */
export async function claim(tx: Transaction, user: User): Promise<void> {
  await deleteProofs(tx, user.id);
  await endSessionsOf(tx, user.id);
  await keepKeysToMemberships(tx, user.id, {});
  await confirmEmail(tx, user.id);
}

/** Whether an account gets the address its provider has for it now: another one of the same domain, and nobody else's. */
async function takesAddress(tx: Transaction, user: User, address: string): Promise<boolean> {
  if (address === user.email || domainOfAddress(address) !== domainOfAddress(user.email)) return false;
  return (await findUser(tx, { email: address })) === undefined;
}

/** @returns whether a provider is enforced from now on, because an administrator has come by it. */
async function prove(
  tx: Transaction,
  domain: AddressDomain,
  { user, kind, installed }: { user: User; kind: ProviderKind; installed: Installed },
): Promise<boolean> {
  const { id, organization_id: organizationId, domain: name } = domain;
  const member = await findMember(tx, { organizationId, userId: user.id });
  if (!member || member.level < membershipLevels.administrator || !(await noteProved(tx, id, kind))) return false;
  const proved = { ...domain, sso_proved: [...domain.sso_proved, kind] };
  if (enforcedProvider(proved, installed) !== kind) return false;
  await recordActivity(tx, {
    ...{ organizationId, scope: 'OrganizationDomain', itemId: id, name, activity: 'updated' },
    actor: { userId: user.id },
    change: { before: { sso_enforcement_state: 'waiting' }, after: { sso_enforcement_state: 'active' } },
  });
  return true;
}
