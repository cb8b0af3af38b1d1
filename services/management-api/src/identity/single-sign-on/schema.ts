import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import type { ProviderAttempt } from './store.ts';

const providerTry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the sign-in attempt.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the attempt was made.' }),
    provider: Type.String({ description: 'Provider that was used: `saml` or `oidc`.' }),
    is_test: Type.Boolean({ description: "Whether the attempt was an administrator's test." }),
    outcome: Type.Enum(['signed in', 'passed', 'refused'], {
      description: 'Outcome of the attempt. A successful test is `passed`.',
    }),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Code for the reason why the attempt was rejected. Null if it succeeded.',
    }),
    detail: Type.String({ description: 'Details about the outcome.' }),
    email: Type.Union([Type.String(), Type.Null()], { description: 'Email address of the user. Null if unknown.' }),
    attributes: Type.Union([Type.Record(Type.String(), Type.Array(Type.String())), Type.Null()], {
      description: 'Attributes that the provider reported for the user. Null unless the attempt was a test.',
    }),
  },
  { title: 'SignInTry' },
);
export const providerAttempts = Type.Object(
  { results: Type.Array(providerTry, { description: 'The sign-in attempts, the latest first. At most 20.' }) },
  { title: 'SignInTries' },
);
export const providerAttemptsExample = {
  results: [
    {
      id: '0193f0c5-7a4e-7000-8000-0000000000f1',
      created_at: '2026-11-01T09:00:00Z',
      provider: 'saml',
      is_test: false,
      outcome: 'refused' as const,
      reason: 'wrong_audience',
      detail: 'The assertion is for urn:other, not for this installation.',
      email: null,
      attributes: null,
    },
  ],
};

export function toAttempt({ created_at, ...row }: ProviderAttempt) {
  const passed = row.is_test ? ('passed' as const) : ('signed in' as const);
  return {
    ...row,
    created_at: formatDateTime(created_at),
    outcome: row.reason === null ? passed : ('refused' as const),
    attributes: row.attributes as Record<string, string[]> | null,
  };
}

export const ticket = Type.Object(
  { ticket: Type.String({ minLength: 1, description: 'Ticket from the URL of the page.' }) },
  { title: 'SignInTicket' },
);
export const ticketDescription = Type.Object(
  {
    email: Type.Union([Type.String(), Type.Null()], {
      description: 'Email address of the user who would be signed in. Null if the provider did not report one.',
    }),
  },
  { title: 'SignInTicketLook' },
);
export const ticketUse = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    next: Type.String({ description: 'Path to redirect the browser to.' }),
  },
  { title: 'SignInTicketUse' },
);

export const blockedAddress = Type.Object(
  {
    email: Type.String({ description: 'The blocked email address.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the email address was blocked.' }),
  },
  { title: 'KeptOutAddress' },
);
