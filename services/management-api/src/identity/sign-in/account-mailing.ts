// Sends users emails about their account: password reset links, and notices about changes to their sign-in methods.

import { createOneTimeLink, findSignInUser, mailAdministrators } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import type { Mail, Mailer } from '@millrace/runtime/mail';

/**
 * Sends emails in the background, so that response times do not reveal whether an account exists. Methods never throw.
 */
export interface AccountMailing {
  /** Sends a password reset link to the account with this email address. Does nothing if the account does not exist. */
  sendReset(account: string): void;
  sends: boolean;
  /** Sends a code to an email address. By entering the code, the user proves that the address is theirs. */
  sendCode(email: string, code: string): void;
  notifyUser(user: { email: string }, notice: Notice, values?: Record<string, string>): void;
  /** Notifies the administrators of a domain's organization about a change to the domain's sign-in settings. */
  notifyAdministrators(
    domain: { organization_id: string; domain: string },
    notice: DomainNotice,
    values?: Record<string, string>,
  ): void;
  /** Resolves when no email is being sent. The mailer's own timeout limits the wait. */
  drain(): Promise<void>;
}

/** Subjects and bodies of notices about account changes. They warn the user in case another person made the change. */
const notices = {
  password_changed: ['Your password was changed', 'Your account password was changed.'],
  second_factor_on: [
    'A second factor is now required',
    'An authenticator app was connected to your account. Codes from the app are now required when you sign in.',
  ],
  second_factor_off: [
    'An authenticator app was disconnected',
    'The authenticator app was disconnected from your account. Codes from the app are no longer required when you ' +
      'sign in.',
  ],
  backup_codes_renewed: [
    'New backup codes were created',
    'New backup codes were created for your account. The previous ones no longer work.',
  ],
  backup_code_used: ['A backup code was used', 'One of your backup codes was used to sign in to your account.'],
  email_change_requested: [
    'A new email address was requested',
    "A change to your account's email address was requested. The current address stays in use until the new " +
      'address is verified.',
  ],
  email_changed: ["Your account's email address was changed", "Your account's email address was changed."],
  account_removed: [
    'Your account was deleted',
    'Your account was deleted as requested, including its API keys and sessions.',
  ],
  passkey_added: [
    'A passkey was added',
    'A passkey was added to your account. It can be used to sign in without a password.',
  ],
  passkeys_required: ['A passkey is now required', 'A passkey is now required after the password when you sign in.'],
  passkeys_not_required: [
    'A passkey is no longer required',
    'A passkey is no longer required after the password when you sign in.',
  ],
  passkey_removed: ['A passkey was removed', 'A passkey was removed from your account.'],
  passkey_refused: [
    'A passkey was rejected',
    'One of your passkeys was used, but it was rejected because its signature counter had decreased. The ' +
      'passkey may have been copied. If you do not know the reason, remove the passkey.',
  ],
  new_browser: [
    'New sign-in from an unknown browser',
    'There was a new sign-in to your account from a browser that you have not used in the last 30 days: {browser}, ' +
      'IP ' +
      'address {address}.',
  ],
  provider_linked: [
    'A sign-in method was added',
    'A sign-in provider was used to sign in to your account for the first time. From now on, you can sign in ' +
      'with this provider.',
  ],
  account_claimed: [
    'Your account was secured',
    "You signed in through a sign-in provider. Your account's email address had not been verified before, so " +
      "someone else may have set up the account. The account's password, passkeys and sessions were therefore " +
      'removed.',
  ],
  account_provisioned: [
    'Your account was secured',
    'The identity provider of {domain} added you to its organization. An account with your email address already ' +
      "existed, but the address had not been verified, so someone else may have set up the account. The account's " +
      'password, passkeys and sessions were therefore removed.',
  ],
} as const;

export type Notice = keyof typeof notices;

const domainNotices = {
  sso_waiting: [
    'An administrator must sign in with single sign-on',
    'Single sign-on was set as the only sign-in method for users of {domain}. The change takes effect when an ' +
      'administrator of your organization signs in with single sign-on. Until ' +
      'then, all other sign-in methods still work.',
  ],
  sso_active: [
    'Single sign-on is now the only sign-in method',
    'An administrator has signed in with single sign-on. From now on, users of {domain} can sign in only with ' +
      'single sign-on. ' +
      'Personal API keys continue to work.',
  ],
  domain_lost: [
    'Another organization has verified your domain',
    'The TXT record that proved your ownership of {domain} was missing for more than seven days, and another ' +
      'organization ' +
      'has published its own TXT record. The domain is no longer verified in your organization. Users can no ' +
      'longer join ' +
      'your organization or sign in through the domain.',
  ],
  sso_off: ['Single sign-on is no longer required', 'Users of {domain} can use all sign-in methods again.'],
  owner_exception: [
    'Owners can now sign in without single sign-on',
    'Owners with an email address in {domain} can now sign in with their password and a second factor. You will get ' +
      'an email each time.',
  ],
  way_around: [
    'A user signed in without single sign-on',
    '{email} signed in without single sign-on for {domain}. Sign-in method: {method}.',
  ],
} as const;

export type DomainNotice = keyof typeof domainNotices;

interface AccountMailingDeps extends Pick<Database, 'sql' | 'transaction'> {
  logger: Logger;
  /** If absent, Millrace sends no emails. */
  mailer?: Mailer | undefined;
  /**
   * Base URL of the links in emails. Comes from the configuration, and never from a request. If absent, Millrace sends
   * no emails, because they would be useless without a link.
   */
  publicUrl?: string | undefined;
}

export function createAccountMailing(deps: AccountMailingDeps): AccountMailing {
  const { sql, transaction, logger, mailer } = deps;
  const publicUrl = deps.publicUrl?.replace(/\/+$/, '');
  const inFlight = new Set<Promise<void>>();

  function runInBackground(what: string, work: Promise<unknown>): void {
    const tracked: Promise<void> = work
      .then(() => undefined)
      .catch((error: unknown) => void logger.warn(`${what} failed`, { error }))
      .finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
  }

  async function sendLink(account: string): Promise<void> {
    if (!mailer || !publicUrl) return;
    const user = await findSignInUser(sql, { email: account });
    if (!user?.is_active) return;
    const link = { kind: 'reset_password', userId: user.id } as const;
    const { secret } = await transaction((tx) => createOneTimeLink(tx, link));
    await mailer.send(resetMail(user, { secret, publicUrl }));
  }

  return {
    sendReset: (account) => runInBackground('sending a password reset email', sendLink(account)),
    sends: mailer !== undefined && publicUrl !== undefined,
    sendCode(email, code) {
      if (mailer && publicUrl) runInBackground('sending a verification code', mailer.send(codeMail(email, code)));
    },
    notifyUser(user, notice, values = {}) {
      if (mailer && publicUrl)
        runInBackground(
          'sending an account notification email',
          mailer.send(noticeMail(user, notice, { publicUrl, values })),
        );
    },
    notifyAdministrators(domain, notice, values = {}) {
      if (!mailer || !publicUrl) return;
      const [subject, sentence] = domainNotices[notice];
      const known: Record<string, string> = { domain: domain.domain, ...values };
      const sentences = [
        filledIn(sentence, known),
        `You can find the domain settings in the console: ${publicUrl}/console/`,
      ];
      const mails = mailAdministrators({ sql, mailer }, domain.organization_id, { subject, sentences });
      runInBackground('sending a domain notification email', mails);
    },
    drain: async () => void (await Promise.all(inFlight)),
  };
}

/**
 * The greeting omits the user's name, because anyone can create an account with another person's email address, or
 * request a code for it.
 */
const hello = 'Hello,';

/**
 * Creates the email with a password reset link. The secret is in the fragment (`#`), because browsers do not send the
 * fragment to servers. Viewing the page does not invalidate the link.
 */
function resetMail(
  { uuid, email }: { uuid: string; email: string },
  { secret, publicUrl }: { secret: string; publicUrl: string },
): Mail {
  return {
    to: email,
    subject: 'Reset your Millrace password',
    text: [
      hello,
      'We received a request to reset your account password. Use this link to set a new password. The link works ' +
        'once and expires after one day:',
      `${publicUrl}/console/reset/${uuid}#${secret}`,
      'Or send this request:',
      `curl -X POST '${publicUrl}/api/reset/${uuid}/' -H 'Content-Type: application/json' -d '{"token": "${secret}", "password": "<your new password>"}'`,
      'If you did not request this, you can ignore this email. Your password will not change.',
    ].join('\n\n'),
  };
}

function codeMail(email: string, code: string): Mail {
  return {
    to: email,
    subject: `${code} is your Millrace verification code`,
    text: [
      hello,
      `Enter this code to verify your email address: ${code}`,
      'The code is valid for one day and five attempts. If you did not request a code, you can ignore this email.',
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
      `If this was you, no action is needed. Otherwise, set a new password at ${publicUrl}/console/reset, which ends all sessions, and inform an administrator of your organization.`,
    ].join('\n\n'),
  };
}

function filledIn(sentence: string, values: Record<string, string>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
