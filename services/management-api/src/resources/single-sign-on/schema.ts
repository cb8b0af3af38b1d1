// Single sign-on as requests and answers have it.

import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import type { ProviderTry } from './store.ts';

const providerTry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the try.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was.' }),
    provider: Type.String({ description: 'By which provider: `saml` or `oidc`.' }),
    is_test: Type.Boolean({ description: 'Whether an administrator only looked what the provider says.' }),
    outcome: Type.Enum(['signed in', 'passed', 'refused'], { description: 'What came of it; `passed` for a test.' }),
    reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it was refused, in a word; null otherwise.' }),
    detail: Type.String({ description: 'The same in a sentence.' }),
    email: Type.Union([Type.String(), Type.Null()], { description: 'Who it was, where that was known.' }),
    attributes: Type.Union([Type.Record(Type.String(), Type.Array(Type.String())), Type.Null()], {
      description: 'What the provider says of the person; of tests only.',
    }),
  },
  { title: 'SignInTry' },
);
export const providerTries = Type.Object(
  { results: Type.Array(providerTry, { description: 'At most twenty, the latest first.' }) },
  { title: 'SignInTries' },
);
export const providerTriesExample = {
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

export function toTry({ created_at, ...row }: ProviderTry) {
  const passed = row.is_test ? ('passed' as const) : ('signed in' as const);
  return {
    ...row,
    created_at: formatDateTime(created_at),
    outcome: row.reason === null ? passed : ('refused' as const),
    attributes: row.attributes as Record<string, string[]> | null,
  };
}

export const ticket = Type.Object(
  { ticket: Type.String({ minLength: 1, description: 'What stands in the address of the page.' }) },
  { title: 'SignInTicket' },
);
export const ticketLook = Type.Object(
  { email: Type.Union([Type.String(), Type.Null()], { description: 'Whom it signs in.' }) },
  { title: 'SignInTicketLook' },
);
export const ticketUse = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    next: Type.String({ description: 'The path to go on with.' }),
  },
  { title: 'SignInTicketUse' },
);

export const keptOut = Type.Object(
  {
    email: Type.String({ description: 'The address.' }),
    created_at: Type.String({ format: 'date-time', description: 'Since when.' }),
  },
  { title: 'KeptOutAddress' },
);
