import { inviteExpiresAt, noteEmailingAttempt, takeMails } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import type { Mailer } from '@millrace/mail';
import type { Logger } from '@millrace/runtime';
import { inviteMail, joinedMail } from './invite-mail.ts';
import type { InviteRow } from './invite-store.ts';
import { findJoinRecipients } from './joined-mail-store.ts';

export interface InviteMailing {
  /**
   * Sends the mails of committed invites. Waits for the attempts, though never longer than the patience: what is not
   * done by then goes on beside the request. Never throws.
   *
   * @returns ids of the invites whose mail was tried by then; those beyond what the organization may send in this hour are not.
   */
  send(invites: readonly MailableInvite[], organization: { id: string; name: string }): Promise<ReadonlySet<string>>;
  /** Tells the administrators and owners who joined, as far as mails are left, beside the request. Never throws. */
  notifyJoined(joined: Joined): void;
  /** Resolves when no mail is on its way any more; at the latest after the mailer's own time limit. */
  settle(): Promise<void>;
}

export interface Joined {
  organization_id: string;
  organization_name: string;
  user: { id: number; first_name: string; email: string };
}

export interface MailableInvite {
  row: InviteRow;
  /** The secret of the link. */
  token: string;
}

export interface InviteMailingDeps {
  sql: Sql;
  logger: Logger;
  /** Absent: no mail is ever tried, and invites say so. */
  mailer?: Mailer | undefined;
  /** Address for the links; a mail without it would be of no use, so none is tried. */
  publicUrl?: string | undefined;
  /** How long a request waits for its mails, in milliseconds. */
  patienceMs: number;
  /** Mails one organization may send in an hour of the clock, reports of subscriptions included; 0 = no limit. */
  mailsPerHour: number;
}

export function createInviteMailing(deps: InviteMailingDeps): InviteMailing {
  const { sql, logger, mailer, publicUrl, patienceMs, mailsPerHour } = deps;
  const underWay = new Set<Promise<void>>();

  async function sendOne({ row, token }: MailableInvite, organizationName: string): Promise<void> {
    if (!mailer || !publicUrl) return;
    await mailer.send(
      inviteMail({
        id: row.id,
        token,
        targetEmail: row.target_email,
        firstName: row.first_name,
        level: row.level,
        message: row.message,
        expiresAt: inviteExpiresAt(row),
        organizationName,
        inviter: row.created_by,
        publicUrl: publicUrl.replace(/\/+$/, ''),
      }),
    );
    await noteEmailingAttempt(sql, row.id);
  }

  async function takeAllowed<T>(organizationId: string, wanted: readonly T[]): Promise<readonly T[]> {
    if (mailsPerHour === 0 || wanted.length === 0) return wanted;
    const granted = await takeMails(sql, { organizationId, wanted: wanted.length, mailsPerHour });
    const left = wanted.length - granted;
    if (left > 0)
      logger.info('mails beyond the hourly limit of an organization were not sent', { organizationId, left });
    return wanted.slice(0, granted);
  }

  function track(work: Promise<void>): Promise<void> {
    const tracked: Promise<void> = work
      .catch((error: unknown) => void logger.warn('a mail about an invite could not be looked after', { error }))
      .finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  }

  return {
    async send(invites, { id, name }) {
      const attempted = new Set<string>();
      if (!mailer || !publicUrl) return attempted;
      const wanted = invites.filter(({ row }) => row.send_email);
      const sendAll = async () => {
        const allowed = await takeAllowed(id, wanted);
        const mails = allowed.map((invite) =>
          track(sendOne(invite, name).then(() => void attempted.add(invite.row.id))),
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
