export interface Mail {
  to: string;
  /** The reply address. Defaults to the sender's address. */
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html?: string;
  /** Images that the HTML shows with `<img src="cid:…">`. */
  attachments?: { cid: string; filename: string; contentType: string; content: Buffer }[];
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
  /** Tries once to send an email within the time limit. Never throws. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Must not be called while an email is being sent. */
  stop(): Promise<void>;
}

export interface SmtpSettings {
  /**
   * The server's URL: `smtp://user:password@host:587` or `smtps://…`, optionally with nodemailer options as a query
   * string. If it is a function, it is called for each email.
   */
  url: string | (() => string);
  /** The sender, for example `Millrace <no-reply@example.com>`, or only an email address. */
  from: string;
  /** The time limit in milliseconds for one email, from the DNS lookup to the last response. */
  timeoutMs: number;
}
