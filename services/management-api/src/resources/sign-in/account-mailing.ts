// Mails to the person behind an account: the link to a new password, and what has changed about signing in.

import { createOneTimeLink, findSigningIn, mailAdministrators } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import type { Mail, Mailer } from '@millrace/runtime/mail';

/** Both go beside the request, so that the time of an answer tells nothing. Neither throws. */
export interface AccountMailing {
  /** Sends a link to a new password to the account with this address, if there is one. */
  sendReset(account: string): void;
  /** Whether mails are sent at all. */
  sends: boolean;
  /** Sends the code by which somebody proves that an address is theirs. */
  sendCode(email: string, code: string): void;
  /** Tells somebody what has just happened to their account. */
  tell(user: { email: string }, notice: Notice, values?: Record<string, string>): void;
  /** Tells those who administrate the organization of a domain what has become of signing in to it. */
  tellAdministrators(
    domain: { organization_id: string; domain: string },
    notice: DomainNotice,
    values?: Record<string, string>,
  ): void;
  /** Resolves when no mail is on its way any more; at the latest after the mailer's own time limit. */
  settle(): Promise<void>;
}

/** What somebody is told of, so that they hear of it when it was not them. */
const notices = {
  password_changed: ['Your password was changed', 'The password of your account was changed.'],
  second_factor_on: [
    'A second factor is asked for now',
    'An authenticator app was connected with your account: its codes are asked for when you sign in.',
  ],
  second_factor_off: [
    'The second factor was switched off',
    'Your account no longer asks for codes of an authenticator app.',
  ],
  backup_codes_renewed: ['New backup codes', 'New backup codes were made for your account. The ones before are void.'],
  backup_code_used: ['A backup code was used', 'Somebody signed in to your account with one of your backup codes.'],
  email_change_asked: [
    'Another address was asked for',
    'Somebody, hopefully you, asked to give your account another address. It stays as it is until the new one is proved.',
  ],
  email_changed: ['The address of your account was changed', 'Your account has another address from now on.'],
  account_removed: ['Your account was removed', 'Your account, its keys and its sessions were removed, as you wanted.'],
  passkey_added: ['A passkey was added', 'A passkey was added to your account. It signs in without a password.'],
  passkeys_asked_for: ['A passkey is asked for now', 'From now on your account asks for a passkey after the password.'],
  passkeys_not_asked_for: [
    'A passkey is no longer asked for',
    'Your account no longer asks for a passkey after the password.',
  ],
  passkey_removed: ['A passkey was removed', 'A passkey of your account was removed.'],
  passkey_refused: [
    'A passkey was refused',
    'A passkey of your account was used whose counter has gone back, as that of a copy would. It was refused. Remove the passkey if you do not know why.',
  ],
  new_browser: [
    'A sign-in from a new browser',
    'Somebody signed in to your account from a browser that was not seen in it for 30 days: {browser}, at {address}.',
  ],
  provider_linked: [
    'A way to sign in was added',
    'Somebody signed in to your account by a sign-in provider for the first time. From now on it may be used for your account.',
  ],
  account_claimed: [
    'Your account was secured',
    'You signed in by a sign-in provider to an account whose address nobody had proved. Its password, passkeys and sessions were removed, because somebody else may have set them up.',
  ],
  account_provisioned: [
    'Your account was secured',
    'The identity provider of {domain} added you to its organization. There was an account with your address, which had not been verified. Its password, passkeys and sessions were removed, because someone else may have set them up.',
  ],
} as const;

export type Notice = keyof typeof notices;

const domainNotices = {
  sso_waiting: [
    'Single sign-on waits for an administrator',
    'Single sign-on was set up as the only way in for people of {domain}. It takes effect once an administrator of your organization has signed in by it. Until then every other way works.',
  ],
  sso_active: [
    'Single sign-on is the only way in now',
    'An administrator has signed in by single sign-on. From now on people of {domain} sign in by it only. Personal API keys go on working.',
  ],
  domain_lost: [
    'Another organization has verified a domain of yours',
    'The TXT record that proved {domain} to be yours was missing for more than seven days, and another organization has published its own. The domain is no longer verified in your organization: people can no longer join it or sign in through the domain.',
  ],
  sso_off: ['Single sign-on is not demanded any more', 'People of {domain} may sign in by any way again.'],
  owner_exception: [
    'Owners may sign in without single sign-on',
    'Owners with an address of {domain} may sign in with their password and a second factor from now on. Each use is mailed to you.',
  ],
  way_around: [
    'Somebody signed in without single sign-on',
    '{email} signed in past the single sign-on of {domain} (by {method}).',
  ],
} as const;

export type DomainNotice = keyof typeof domainNotices;

interface AccountMailingDeps extends Pick<Database, 'sql' | 'transaction'> {
  logger: Logger;
  /** Absent: no mail is ever sent. */
  mailer?: Mailer | undefined;
  /** Address for the link, never what a request says of itself; a mail without it would be of no use, so none is sent. */
  publicUrl?: string | undefined;
}

export function createAccountMailing(deps: AccountMailingDeps): AccountMailing {
  const { sql, transaction, logger, mailer } = deps;
  const publicUrl = deps.publicUrl?.replace(/\/+$/, '');
  const underWay = new Set<Promise<void>>();

  function beside(what: string, work: Promise<unknown>): void {
    const tracked: Promise<void> = work
      .then(() => undefined)
      .catch((error: unknown) => void logger.warn(`${what} failed`, { error }))
      .finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  }

  async function sendLink(account: string): Promise<void> {
    if (!mailer || !publicUrl) return;
    const user = await findSigningIn(sql, { email: account });
    if (!user?.is_active) return;
    const link = { kind: 'reset_password', userId: user.id } as const;
    const { secret } = await transaction((tx) => createOneTimeLink(tx, link));
    await mailer.send(resetMail(user, { secret, publicUrl }));
  }

  return {
    sendReset: (account) => beside('sending a mail for a new password', sendLink(account)),
    sends: mailer !== undefined && publicUrl !== undefined,
    sendCode(email, code) {
      if (mailer && publicUrl) beside('sending a code', mailer.send(codeMail(email, code)));
    },
    tell(user, notice, values = {}) {
      if (mailer && publicUrl)
        beside('sending a mail about an account', mailer.send(noticeMail(user, notice, { publicUrl, values })));
    },
    tellAdministrators(domain, notice, values = {}) {
      if (!mailer || !publicUrl) return;
      const [subject, sentence] = domainNotices[notice];
      const known: Record<string, string> = { domain: domain.domain, ...values };
      const sentences = [
        filledIn(sentence, known),
        `The settings of the domain are in the console: ${publicUrl}/console/`,
      ];
      const mails = mailAdministrators({ sql, mailer }, domain.organization_id, { subject, sentences });
      beside('sending a mail about a domain', mails);
    },
    settle: async () => void (await Promise.all(underWay)),
  };
}

/** Without the name of the account: a stranger may have created it with another person's address, or requested a code for it. */
const hello = 'Hello,';

/** The secret stands behind the `#`, which browsers send to nobody; looking at the page uses nothing up. */
function resetMail(
  { uuid, email }: { uuid: string; email: string },
  { secret, publicUrl }: { secret: string; publicUrl: string },
): Mail {
  return {
    to: email,
    subject: 'A new password for Millrace',
    text: [
      hello,
      'somebody, hopefully you, asked for a new password for your account. This link sets one, once and within a day:',
      `${publicUrl}/console/reset/${uuid}#${secret}`,
      'Or send:',
      `curl -X POST '${publicUrl}/api/reset/${uuid}/' -H 'Content-Type: application/json' -d '{"token": "${secret}", "password": "<your new password>"}'`,
      'If it was not you, ignore this mail: your password stays as it is.',
    ].join('\n\n'),
  };
}

function codeMail(email: string, code: string): Mail {
  return {
    to: email,
    subject: `${code} is your code for Millrace`,
    text: [
      hello,
      `enter this code to prove that this address is yours: ${code}`,
      'It holds for a day and for five tries. If you did not ask for it, ignore this mail.',
    ].join('\n\n'),
  };
}

function noticeMail(
  { email }: { email: string },
  notice: Notice,
  { publicUrl, values }: { publicUrl: string; values: Record<string, string> },
): Mail {
  const [subject, sentence] = notices[notice];
  return {
    to: email,
    subject: `${subject} (Millrace)`,
    text: [
      hello,
      filledIn(sentence, values),
      `If it was you, there is nothing to do. If it was not, set a new password at ${publicUrl}/console/reset, which ends all sessions, and tell an administrator of your organization.`,
    ].join('\n\n'),
  };
}

function filledIn(sentence: string, values: Record<string, string>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
