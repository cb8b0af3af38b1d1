import { getInviteExpiry, recordEmailingAttempt, reserveEmailQuota } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { type Logger, quoteMessage } from '@millrace/runtime';
import type { Mail, Mailer } from '@millrace/runtime/mail';
import { findJoinRecipients, type InviteRow } from './store.ts';

export interface InviteMailing {
  /**
   * Sends the emails of committed invites. Waits at most `patienceMs`, after which the remaining emails are sent in the
   * background. Never throws.
   * @returns the error or null for each email attempted so far, by invite ID. Invites over the hourly limit of the
   *   organization are omitted.
   */
  send(
    invites: readonly MailableInvite[],
    organization: { id: string; name: string },
  ): Promise<ReadonlyMap<string, string | null>>;
  /**
   * Emails administrators and owners about a new member, in the background and within the hourly limit. Never throws.
   */
  notifyJoined(joined: Joined): void;
  /** Resolves when no email is being sent. The mailer's own timeout limits the wait. */
  drain(): Promise<void>;
}

export interface Joined {
  organization_id: string;
  organization_name: string;
  user: { id: number; email: string };
}

interface MailableInvite {
  row: InviteRow;
  /** The secret in the email's link. */
  token: string;
}

interface InviteMailingDeps {
  sql: Sql;
  logger: Logger;
  /** If absent, Millrace does not attempt to send emails. Responses report this. */
  mailer?: Mailer | undefined;
  /** Base URL for links. If absent, Millrace does not attempt to send emails, because they would not contain a link. */
  publicUrl?: string | undefined;
  /** Whether links open the console. If false, they open the API. */
  withConsole?: boolean;
  /** The maximum time in milliseconds that a request waits for its emails. */
  patienceMs: number;
  /** Maximum number of emails per organization per hour, including subscription reports. 0 means no limit. */
  mailsPerHour: number;
}

export function createInviteMailing(deps: InviteMailingDeps): InviteMailing {
  const { sql, logger, mailer, publicUrl, withConsole = false, patienceMs, mailsPerHour } = deps;
  const inFlight = new Set<Promise<void>>();

  /** Sends the email for one invite. @returns the error, or null if the mail server accepted the email */
  async function sendOne(
    { row, token }: MailableInvite,
    { organizationName, mailer, publicUrl }: { organizationName: string; mailer: Mailer; publicUrl: string },
  ): Promise<string | null> {
    const outcome = await mailer.send(
      inviteMail({
        id: row.id,
        token,
        withConsole,
        targetEmail: row.target_email,
        level: row.level,
        message: row.message,
        expiresAt: getInviteExpiry(row),
        organizationName,
        inviter: row.created_by,
        publicUrl: publicUrl.replace(/\/+$/, ''),
      }),
    );
    const error = outcome.result === 'accepted' ? null : outcome.result === 'refused' ? outcome.code : 'unreachable';
    await recordEmailingAttempt(sql, row.id, error);
    return error;
  }

  async function limitToHourlyQuota<T>(organizationId: string, emails: readonly T[]): Promise<readonly T[]> {
    if (mailsPerHour === 0 || emails.length === 0) return emails;
    const granted = await reserveEmailQuota(sql, { organizationId, wanted: emails.length, mailsPerHour });
    const left = emails.length - granted;
    if (left > 0)
      logger.info('emails not sent: the organization has reached its hourly limit', { organizationId, left });
    return emails.slice(0, granted);
  }

  function track(work: Promise<void>): Promise<void> {
    const tracked: Promise<void> = work
      .catch((error: unknown) => void logger.warn('sending an invite email failed', { error }))
      .finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
    return tracked;
  }

  return {
    async send(invites, { id, name }) {
      const attempted = new Map<string, string | null>();
      if (!mailer || !publicUrl) return attempted;
      const invitesToSend = invites.filter(({ row }) => row.send_email);
      const sendAll = async () => {
        const allowed = await limitToHourlyQuota(id, invitesToSend);
        const mails = allowed.map((invite) =>
          track(
            sendOne(invite, { organizationName: name, mailer, publicUrl }).then(
              (error) => void attempted.set(invite.row.id, error),
            ),
          ),
        );
        await Promise.all(mails);
      };
      await atMost(patienceMs, track(sendAll()));
      return attempted;
    },
    notifyJoined(joined) {
      if (!mailer) return;
      const { send } = mailer;
      const notify = async () => {
        const recipients = await findJoinRecipients(sql, joined.organization_id, joined.user.id);
        const allowed = await limitToHourlyQuota(joined.organization_id, recipients);
        await Promise.all(allowed.map((to) => send(joinedMail(to, joined))));
      };
      track(notify());
    },
    drain: async () => void (await Promise.all(inFlight)),
  };
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

interface InviteMailContent {
  id: string;
  token: string;
  withConsole: boolean;
  targetEmail: string;
  level: number;
  message: string | null;
  expiresAt: Date;
  organizationName: string;
  inviter: { email: string; is_email_verified: boolean } | null;
  publicUrl: string;
}

/**
 * Creates the email for an invite (docs/api/invites.md). The link in the email only shows the invite. Opening the link
 * must not accept the invite, because mail scanners open every link.
 */
function inviteMail(content: InviteMailContent): Mail {
  // Replies go to the inviter only if the inviter's email address is verified. Otherwise, replies could go to a
  // stranger: users choose their own names, and an unverified address can belong to another person.
  const replyTo = content.inviter?.is_email_verified ? content.inviter.email : undefined;
  const inviter = replyTo ?? `A member of ${content.organizationName}`;
  const address = `${content.publicUrl}/api/signup/${content.id}`;
  // The secret is in the fragment (`#`). Browsers do not send the fragment, so the secret does not appear in access
  // logs.
  const page = `${content.publicUrl}/console/invite/${content.id}#${content.token}`;
  return {
    to: content.targetEmail,
    replyTo,
    subject: `${inviter} invited you to join ${content.organizationName} on Millrace`,
    text: [
      'Hello,',
      `${inviter} invited you to join ${content.organizationName} on Millrace as ${roleOf(content.level)}.`,
      ...(content.message ? ['They wrote:', quoteMessage(content.message)] : []),
      `The invite is only for you and is valid until ${formatMoment(content.expiresAt)}:`,
      content.withConsole
        ? page
        : `curl -X POST '${address}/look/' -H 'Content-Type: application/json' -d '{"token": "${content.token}"}'`,
      'To accept it through the API as a new user and receive a personal API key, send:',
      `curl -X POST '${address}/' -H 'Content-Type: application/json' -d '{"token": "${content.token}"}'`,
      'If you already have a personal API key, send this instead:',
      `curl -X POST '${content.publicUrl}/api/invites/${content.id}/accept/' -H 'Authorization: Bearer <your key>' -H 'Content-Type: ` +
        `application/json' -d '{"token": "${content.token}"}'`,
      'If you do not know the sender, you can ignore this email.',
    ].join('\n\n'),
  };
}

function joinedMail(
  to: string,
  { organization_name, user }: { organization_name: string; user: { email: string } },
): Mail {
  return {
    to,
    subject: `${user.email} joined ${organization_name} on Millrace`,
    text: `${user.email} accepted an invite and is now a member of ${organization_name}.`,
  };
}

function roleOf(level: number): string {
  if (level >= membershipLevels.owner) return 'an owner';
  return level >= membershipLevels.administrator ? 'an administrator' : 'a member';
}

function formatMoment(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
