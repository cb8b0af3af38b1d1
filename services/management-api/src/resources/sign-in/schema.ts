// Signing in and out, as requests and answers have it.

import type { selectSessions } from '@millrace/accounts';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';

const email = Type.String({ minLength: 1, description: 'E-mail address of the account, however it is written.' });
const password = Type.String({ minLength: 1, format: 'password', description: 'The password.' });
const newPassword = Type.String({
  minLength: 1,
  format: 'password',
  description: 'The new password: 8 to 256 characters, and not one that is easily guessed.',
});
const secret = Type.String({ minLength: 1, description: 'The secret of the link: what stands behind its `#`.' });

export const done = Type.Object({ success: Type.Boolean({ description: 'Always true.' }) }, { title: 'Done' });

export const precheck = Type.Object({ email }, { title: 'SignInQuestion' });
export const waysIn = Type.Object(
  {
    password_login_available: Type.Boolean({ description: 'Whether a password is one.' }),
    sso_enforcement: Type.Union([Type.String(), Type.Null()], {
      description: 'The only provider this address may sign in with; null where there is none.',
    }),
    saml_available: Type.Boolean({ description: 'Whether SAML is one.' }),
    social_providers: Type.Record(Type.String(), Type.Boolean(), { description: 'Other services that are one.' }),
  },
  { title: 'WaysIn' },
);
export const waysInExample = {
  password_login_available: true,
  sso_enforcement: null,
  saml_available: false,
  social_providers: {},
};

export const signIn = Type.Object({ email, password }, { title: 'SignIn' });
export const reauthentication = Type.Object({ password }, { title: 'Reauthentication' });

export const linkLook = Type.Object({ secret }, { title: 'LinkLook' });
export const linkMeaning = Type.Object(
  {
    kind: Type.Enum(['sign_in', 'first_owner'], {
      description: '`sign_in` signs an account in; `first_owner` makes the first account of the installation.',
    }),
    email: Type.Optional(Type.String({ description: 'The account that is signed in; absent for the first owner.' })),
  },
  { title: 'LinkMeaning' },
);
export const linkUse = Type.Object(
  {
    secret,
    email: Type.Optional(Type.String({ description: 'First owner: the e-mail address.' })),
    first_name: Type.Optional(Type.String({ description: 'First owner: the first name.' })),
    password: Type.Optional(Type.String({ format: 'password', description: 'First owner: the password.' })),
    organization_name: Type.Optional(Type.String({ description: 'First owner: the name of the organization.' })),
  },
  { title: 'LinkUse' },
);
/** What the first owner has to tell. */
export const firstOwner = Type.Object({
  email: Type.String({ format: 'email', minLength: 1, maxLength: 254 }),
  first_name: Type.Optional(Type.String({ maxLength: 150 })),
  password: newPassword,
  organization_name: Type.String({ minLength: 1, maxLength: 64 }),
});

export const resetQuestion = Type.Object({ email }, { title: 'ResetQuestion' });
export const resetLook = Type.Object({}, { title: 'ResetLook' });
export const resetUse = Type.Object(
  { token: Type.String({ minLength: 1, description: 'The secret of the mail.' }), password: newPassword },
  { title: 'ResetUse' },
);
export const resetDone = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    email: Type.String({ description: 'The account whose password it is.' }),
  },
  { title: 'ResetDone' },
);

export const loginSession = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the session.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it began.' }),
    last_activity: Type.String({ format: 'date-time', description: 'When it was last used, to five minutes.' }),
    location: Type.String({ description: 'The address it began from.' }),
    device: Type.String({ description: 'Browser and system, as far as the browser says.' }),
    login_method: Type.String({ description: '`password`, `link` or `invite`.' }),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  },
  { title: 'LoginSession' },
);
export const loginSessionExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e5',
  created_at: '2026-11-01T09:00:00Z',
  last_activity: '2026-11-02T17:30:00Z',
  location: '192.0.2.7',
  device: 'Firefox on Linux',
  login_method: 'password',
  is_current: true,
};
export const revokedSessions = Type.Object(
  { revoked_count: Type.Integer({ description: 'How many ended.' }) },
  { title: 'RevokedSessions' },
);

type SessionRow = Awaited<ReturnType<typeof selectSessions>>[number];

/** A session as its user sees it. */
export function toLoginSession(row: SessionRow, currentId: string) {
  return {
    id: row.id,
    created_at: formatDateTime(row.created_at),
    last_activity: formatDateTime(row.last_seen_at),
    location: row.address,
    device: deviceOf(row.browser),
    login_method: row.method,
    is_current: row.id === currentId,
  };
}

/** Browsers that call themselves others too stand after those they are not. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
] as const;
const systems = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad|iPod/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X|Macintosh/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /Linux/],
] as const;

function deviceOf(browser: string): string {
  const nameIn = (names: typeof browsers | typeof systems) => names.find(([, pattern]) => pattern.test(browser))?.[0];
  const [program, system] = [nameIn(browsers), nameIn(systems)];
  if (program === undefined && system === undefined) return 'Unknown';
  return [program ?? 'Unknown browser', ...(system === undefined ? [] : [system])].join(' on ');
}
