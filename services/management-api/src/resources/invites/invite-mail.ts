import { membershipLevels } from '@millrace/contracts';
import type { Mail } from '@millrace/mail';

export interface InviteLetter {
  /** Id of the invite. */
  id: string;
  token: string;
  targetEmail: string;
  firstName: string;
  level: number;
  message: string | null;
  expiresAt: Date;
  organizationName: string;
  inviter: { first_name: string; email: string } | null;
  /** Address under which the API is reached, without a trailing slash. */
  publicUrl: string;
}

/**
 * The mail of an invite (docs/api-rules.md#invites). The link only shows the invite: programs that look at
 * every link of a mail must not accept it.
 */
export function inviteMail(letter: InviteLetter): Mail {
  const inviter = letter.inviter?.first_name || 'Somebody';
  const address = `${letter.publicUrl}/api/signup/${letter.id}`;
  return {
    to: letter.targetEmail,
    replyTo: letter.inviter?.email,
    subject: `${inviter} invited you to join ${letter.organizationName} on Millrace`,
    text: [
      `Hello${letter.firstName ? ` ${letter.firstName}` : ''},`,
      `${inviter} invited you to join ${letter.organizationName} on Millrace as ${roleOf(letter.level)}.`,
      ...(letter.message ? [letter.message] : []),
      `The invitation is valid until ${formatMoment(letter.expiresAt)} and is for you alone:`,
      `${address}/?token=${letter.token}`,
      'To accept it as a new user and get your personal API key, send:',
      `curl -X POST '${address}/' -H 'Content-Type: application/json' -d '{"token": "${letter.token}"}'`,
      'If you have a personal API key already, send instead:',
      `curl -X POST '${letter.publicUrl}/api/invites/${letter.id}/accept/' -H 'Authorization: Bearer <your key>'`,
      'If you do not know the sender, ignore this mail.',
    ].join('\n\n'),
  };
}

/** The mail to an administrator about somebody new. */
export function joinedMail(
  to: string,
  { organization_name, user }: { organization_name: string; user: { first_name: string; email: string } },
): Mail {
  const name = user.first_name || user.email;
  return {
    to,
    subject: `${name} joined ${organization_name} on Millrace`,
    text: `${name} (${user.email}) has accepted an invite and is now a member of ${organization_name}.`,
  };
}

function roleOf(level: number): string {
  if (level >= membershipLevels.owner) return 'an owner';
  return level >= membershipLevels.administrator ? 'an administrator' : 'a member';
}

function formatMoment(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
