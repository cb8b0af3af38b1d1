// The mails about invites: their texts, and sending them.

import { inviteExpiresAt, noteEmailingAttempt, takeMails } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { type Logger, quoteMessage } from '@millrace/runtime';
import type { Mail, Mailer } from '@millrace/runtime/mail';
import { findJoinRecipients, type InviteRow } from './store.ts';

export interface InviteMailing {
  /**
   * Sends the mails of committed invites. Waits for the attempts, though never longer than the patience: what is not
   * done by then continues beside the request. Never throws.
   *
   * @returns the invites whose mail was tried by then, by id, with why it was not taken; those beyond what the organization may
   * send in this hour are not there.
   */
  send(
    invites: readonly MailableInvite[],
    organization: { id: string; name: string },
  ): Promise<ReadonlyMap<string, string | null>>;
  /** Tells the administrators and owners who joined, as far as mails are left, beside the request. Never throws. */
  notifyJoined(joined: Joined): void;
  /** Resolves when no mail is on its way any more; at the latest after the mailer's own time limit. */
  settle(): Promise<void>;
}

export interface Joined {
  organization_id: string;
  organization_name: string;
  user: { id: number; email: string };
}

interface MailableInvite {
  row: InviteRow;
  /** The secret of the link that is mailed. */
  token: string;
}

interface InviteMailingDeps {
  sql: Sql;
  logger: Logger;
  /** Absent: no mail is ever tried, and invites say so. */
  mailer?: Mailer | undefined;
  /** Address for the links; a mail without it would be of no use, so none is tried. */
  publicUrl?: string | undefined;
  /** Links lead to the console; without it, to the API. */
  withConsole?: boolean;
  /** How long a request waits for its mails, in milliseconds. */
  patienceMs: number;
  /** Mails one organization may send in an hour of the clock, reports of subscriptions included; 0 = no limit. */
  mailsPerHour: number;
}

export function createInviteMailing(deps: InviteMailingDeps): InviteMailing {
  const { sql, logger, mailer, publicUrl, withConsole = false, patienceMs, mailsPerHour } = deps;
  const underWay = new Set<Promise<void>>();

  /** @returns why the mail was not taken; null when it was. */
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
        expiresAt: inviteExpiresAt(row),
        organizationName,
        inviter: row.created_by,
        publicUrl: publicUrl.replace(/\/+$/, ''),
      }),
    );
    const error = outcome.result === 'accepted' ? null : outcome.result === 'refused' ? outcome.code : 'unreachable';
    await noteEmailingAttempt(sql, row.id, error);
    return error;
  }

  async function takeAllowed<T>(organizationId: string, wanted: readonly T[]): Promise<readonly T[]> {
    if (mailsPerHour === 0 || wanted.length === 0) return wanted;
    const granted = await takeMails(sql, { organizationId, wanted: wanted.length, mailsPerHour });
    const left = wanted.length - granted;
    if (left > 0)
      logger.info('emails not sent: the organization has reached its hourly limit', { organizationId, left });
    return wanted.slice(0, granted);
  }

  function track(work: Promise<void>): Promise<void> {
    const tracked: Promise<void> = work
      .catch((error: unknown) => void logger.warn('sending an invite email failed', { error }))
      .finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  }

  return {
    async send(invites, { id, name }) {
      const attempted = new Map<string, string | null>();
      if (!mailer || !publicUrl) return attempted;
      const wanted = invites.filter(({ row }) => row.send_email);
      const sendAll = async () => {
        const allowed = await takeAllowed(id, wanted);
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
        const allowed = await takeAllowed(joined.organization_id, recipients);
        await Promise.all(allowed.map((to) => send(joinedMail(to, joined))));
      };
      track(notify());
    },
    settle: async () => void (await Promise.all(underWay)),
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

interface InviteLetter {
  /** Id of the invite. */
  id: string;
  token: string;
  withConsole: boolean;
  targetEmail: string;
  level: number;
  message: string | null;
  expiresAt: Date;
  organizationName: string;
  inviter: { email: string; is_email_verified: boolean } | null;
  /** Address under which the API is reached, without a trailing slash. */
  publicUrl: string;
}

/**
 * The mail of an invite (docs/api/invites.md). The link only shows the invite: programs that look at
 * every link of a mail must not accept it.
 */
function inviteMail(letter: InviteLetter): Mail {
  // Names are chosen freely and an unverified address may belong to another person, so neither speaks for the inviter.
  const replyTo = letter.inviter?.is_email_verified ? letter.inviter.email : undefined;
  const inviter = replyTo ?? `A member of ${letter.organizationName}`;
  const address = `${letter.publicUrl}/api/signup/${letter.id}`;
  // Behind `#` the secret stays out of the logs of servers.
  const page = `${letter.publicUrl}/console/invite/${letter.id}#${letter.token}`;
  return {
    to: letter.targetEmail,
    replyTo,
    subject: `${inviter} invited you to join ${letter.organizationName} on Millrace`,
    text: [
      'Hello,',
      `${inviter} invited you to join ${letter.organizationName} on Millrace as ${roleOf(letter.level)}.`,
      ...(letter.message ? ['They wrote:', quoteMessage(letter.message)] : []),
      `The invite is only for you and is valid until ${formatMoment(letter.expiresAt)}:`,
      letter.withConsole
        ? page
        : `curl -X POST '${address}/look/' -H 'Content-Type: application/json' -d '{"token": "${letter.token}"}'`,
      'To accept it through the API as a new user and receive a personal API key, send:',
      `curl -X POST '${address}/' -H 'Content-Type: application/json' -d '{"token": "${letter.token}"}'`,
      'If you already have a personal API key, send this instead:',
      `curl -X POST '${letter.publicUrl}/api/invites/${letter.id}/accept/' -H 'Authorization: Bearer <your key>' -H 'Content-Type: ` +
        `application/json' -d '{"token": "${letter.token}"}'`,
      'If you do not know the sender, you can ignore this email.',
    ].join('\n\n'),
  };
}

/** The mail to an administrator about somebody new. */
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
