export { createMailer } from './create-mailer.ts';
export type { Mail, Mailer, MailOutcome, SmtpSettings } from './mailer.ts';
