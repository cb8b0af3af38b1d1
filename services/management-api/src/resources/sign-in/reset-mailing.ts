// The mail with which somebody sets a new password.

import { createOneTimeLink, findSigningIn } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import type { Mail, Mailer } from '@millrace/runtime/mail';

export interface ResetMailing {
  /**
   * Sends a link to the account with this address, if there is one, beside the request: whoever asks cannot tell by the time
   * it takes. Never throws.
   */
  send(account: string): void;
  /** Resolves when no mail is on its way any more; at the latest after the mailer's own time limit. */
  settle(): Promise<void>;
}

interface ResetMailingDeps extends Pick<Database, 'sql' | 'transaction'> {
  logger: Logger;
  /** Absent: no mail is ever sent. */
  mailer?: Mailer | undefined;
  /** Address for the link, never what a request says of itself; a mail without it would be of no use, so none is sent. */
  publicUrl?: string | undefined;
}

export function createResetMailing({ sql, transaction, logger, mailer, publicUrl }: ResetMailingDeps): ResetMailing {
  const underWay = new Set<Promise<void>>();

  async function sendLink(account: string): Promise<void> {
    if (!mailer || !publicUrl) return;
    const user = await findSigningIn(sql, { email: account });
    if (!user?.is_active) return;
    const link = { kind: 'reset_password', userId: user.id } as const;
    const { secret } = await transaction((tx) => createOneTimeLink(tx, link));
    await mailer.send(resetMail(user, { secret, publicUrl: publicUrl.replace(/\/+$/, '') }));
  }

  return {
    send(account) {
      const tracked: Promise<void> = sendLink(account)
        .catch((error: unknown) => void logger.warn('sending a mail for a new password failed', { error }))
        .finally(() => underWay.delete(tracked));
      underWay.add(tracked);
    },
    settle: async () => void (await Promise.all(underWay)),
  };
}

/** The secret stands behind the `#`, which browsers send to nobody; looking at the page uses nothing up. */
function resetMail(
  { uuid, email, first_name: name }: { uuid: string; email: string; first_name: string },
  { secret, publicUrl }: { secret: string; publicUrl: string },
): Mail {
  return {
    to: email,
    subject: 'A new password for Millrace',
    text: [
      `Hello${name ? ` ${name}` : ''},`,
      'somebody, hopefully you, asked for a new password for your account. This link sets one, once and within a day:',
      `${publicUrl}/console/reset/${uuid}#${secret}`,
      'Or send:',
      `curl -X POST '${publicUrl}/api/reset/${uuid}/' -H 'Content-Type: application/json' -d '{"token": "${secret}", "password": "<your new password>"}'`,
      'If it was not you, ignore this mail: your password stays as it is.',
    ].join('\n\n'),
  };
}
