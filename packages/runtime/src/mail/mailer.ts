// The interface for sending email.

export interface Mail {
  to: string;
  /** The address for replies, if it differs from the sender. */
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html?: string;
  /** Images used by the HTML as `<img src="cid:…">`. */
  attachments?: { cid: string; filename: string; contentType: string; content: Buffer }[];
  /** Headers in addition to the standard ones. */
  headers?: Record<string, string>;
}

/**
 * The result of one attempt.
 * - `accepted`: the server has accepted the message.
 * - `refused`: the server rejected it. `isPermanent` is true if a retry would fail too (5xx), for example for an
 *   unknown mailbox. A wrong password is not permanent.
 * - `unreachable`: no server responded, the connection broke, or the time limit passed. If the connection broke after
 *   the last line of the message, it is unknown whether the message was sent.
 */
export type MailOutcome =
  | { result: 'accepted' }
  | { result: 'refused'; isPermanent: boolean; code: string }
  | { result: 'unreachable'; code: string };

export interface Mailer {
  /** Makes one attempt and returns its result, at the latest after the time limit. Never throws. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Closes idle connections. Call it when no `send` is in progress. */
  stop(): Promise<void>;
}

export interface SmtpSettings {
  /**
   * `smtp://user:password@host:587` or `smtps://…`, optionally followed by nodemailer options as a query string. A
   * function is called for each mail and returns the current URL.
   */
  url: string | (() => string);
  /** The sender, `Millrace <no-reply@example.com>` or a plain address. */
  from: string;
  /** The time limit of one attempt, from the first lookup to the last response, in milliseconds. */
  timeoutMs: number;
}
