// The interface for sending email.

export interface Mail {
  to: string;
  /** The reply address, if it differs from the sender. */
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html?: string;
  /** Images that the HTML shows with `<img src="cid:…">`. */
  attachments?: { cid: string; filename: string; contentType: string; content: Buffer }[];
  /** Headers in addition to the standard headers. */
  headers?: Record<string, string>;
}

/**
 * The result of one attempt.
 *
 * - `accepted`: the server has accepted the message.
 * - `refused`: the server rejected the message. `isPermanent` is true if another attempt would fail too (5xx), for
 *   example for an unknown mailbox. A wrong password is not permanent.
 * - `unreachable`: no server responded, the connection broke, or the time limit passed. If the connection broke after
 *   the last line of the message, it is unknown whether the message was sent.
 */
export type MailOutcome =
  | { result: 'accepted' }
  | { result: 'refused'; isPermanent: boolean; code: string }
  | { result: 'unreachable'; code: string };

export interface Mailer {
  /** Makes one attempt to send an email, and returns the result within the time limit. Never throws. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Closes idle connections. Call `stop` when no `send` is in progress. */
  stop(): Promise<void>;
}

export interface SmtpSettings {
  /**
   * The server: `smtp://user:password@host:587` or `smtps://…`, optionally with nodemailer options as a query string. A
   * function is called for each email and returns the current URL.
   */
  url: string | (() => string);
  /** The sender: `Millrace <no-reply@example.com>`, or only an address. */
  from: string;
  /** The time limit of one attempt, from the DNS lookup to the last response, in milliseconds. */
  timeoutMs: number;
}
