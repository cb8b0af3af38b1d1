/** One message to one person. */
export interface Mail {
  to: string;
  /** Who gets the answer of the person, when that is not the sender. */
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html?: string;
  /** Pictures that the HTML shows: `<img src="cid:…">`. */
  attachments?: { cid: string; filename: string; contentType: string; content: Buffer }[];
  /** Beside those that every mail has. */
  headers?: Record<string, string>;
}

/**
 * What came of one attempt.
 * - `accepted`: the server has taken the message.
 * - `refused`: the server said no; `isPermanent` when it would say so again (5xx), e.g. an unknown mailbox. A wrong password is not.
 * - `unreachable`: no server answered, it broke off, or the time was up. Nobody knows whether the message went out when
 *   it broke off after the last line.
 */
export type MailOutcome =
  | { result: 'accepted' }
  | { result: 'refused'; isPermanent: boolean; code: string }
  | { result: 'unreachable'; code: string };

export interface Mailer {
  /** Makes one attempt and tells what came of it, after the time limit at the latest. Never throws. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Closes the connections that are idle; call it when no `send` is in progress. */
  stop(): Promise<void>;
}

export interface SmtpSettings {
  /**
   * `smtp://user:password@host:587` or `smtps://…`; options of nodemailer may follow as a query. What it is at the moment may be
   * asked for by a function.
   */
  url: string | (() => string);
  /** Sender, `Millrace <no-reply@example.com>` or the address alone. */
  from: string;
  /** One attempt from the first lookup to the last answer, in milliseconds. */
  timeoutMs: number;
}
