// Signing in and out, as requests and answers have it.

import type { selectSessions } from '@millrace/accounts';
import { formatDateTime, freeFormObject } from '@millrace/http';
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
    oidc_available: Type.Boolean({ description: 'Whether OpenID Connect is one, of the domain or the installation.' }),
    social_providers: Type.Record(Type.String(), Type.Boolean(), {
      description: 'Other services that are one: `google-oauth2`, `github`, `gitlab`.',
    }),
  },
  { title: 'WaysIn' },
);
export const waysInExample = {
  password_login_available: true,
  sso_enforcement: null,
  saml_available: false,
  oidc_available: false,
  social_providers: {},
};

export const signIn = Type.Object({ email, password }, { title: 'SignIn' });
const code = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Six digits of the authenticator app, or a backup code.',
});
/** As a browser answers; its parts are those of WebAuthn. */
const credential = freeFormObject({ description: 'What `navigator.credentials` answered, as JSON.' });
const credentialOptions = freeFormObject({ description: 'Options for `navigator.credentials`, as JSON (WebAuthn).' });

export const secondStep = Type.Object(
  {
    token: Type.Optional(code),
    credential: Type.Optional(credential),
    remember: Type.Optional(
      Type.Boolean({ description: 'Not to ask for it again in this browser, for 30 days. Default false.' }),
    ),
  },
  { title: 'SecondStep' },
);
export const secondStepMethods = Type.Object(
  {
    has_totp: Type.Boolean({ description: 'Whether an authenticator app can show it.' }),
    has_passkeys: Type.Boolean({ description: 'Whether a passkey can.' }),
  },
  { title: 'SecondStepMethods' },
);
export const passkeyOptions = credentialOptions;
export const passkeySignIn = Type.Object({ credential }, { title: 'PasskeySignIn' });
export const passkeyRegistration = Type.Object(
  {
    credential,
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name of it. Default `Passkey`.' })),
  },
  { title: 'PasskeyRegistration' },
);
export const passkeyChanges = Type.Object(
  { label: Type.String({ minLength: 1, maxLength: 200, description: 'Another name.' }) },
  { title: 'PasskeyChanges' },
);
export const passkey = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the passkey.' }),
    label: Type.String({ description: 'Name of it.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was registered.' }),
    last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was last used; null for never.',
    }),
    transports: Type.Array(Type.String(), { description: 'How a browser reaches it.' }),
    verified: Type.Boolean({ description: 'Always true: one that did not answer is not kept.' }),
    authenticator_type: Type.Enum(['platform', 'hybrid', 'hardware', 'unknown'], { description: 'Where it lies.' }),
  },
  { title: 'Passkey' },
);
export const passkeyExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e7',
  label: 'Laptop',
  created_at: '2026-11-01T09:00:00Z',
  last_used_at: null,
  transports: ['internal'],
  verified: true,
  authenticator_type: 'platform',
} as const;

export const totpSetup = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    secret: Type.String({ description: 'For apps into which it is typed: Base32.' }),
    uri: Type.String({ description: 'For apps that read a picture: what the QR code says.' }),
  },
  { title: 'TotpSetup' },
);
export const totpCode = Type.Object({ token: code }, { title: 'TotpCode' });
export const backupCodes = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    backup_codes: Type.Array(Type.String(), { description: 'Each signs in once. They are shown this once.' }),
  },
  { title: 'BackupCodes' },
);
export const backupCodesExample = { success: true, backup_codes: ['k3f9q-x7mp2', 'w8ndt-4hjr6'] };
export const factorStatus = Type.Object(
  {
    is_enabled: Type.Boolean({ description: 'Whether a second factor is asked for after a password.' }),
    method: Type.Union([Type.Enum(['TOTP', 'passkey']), Type.Null()], { description: 'Which; null for none.' }),
    backup_codes_remaining: Type.Integer({ description: 'Backup codes that were not used yet.' }),
    has_totp: Type.Boolean({ description: 'Whether there is an authenticator app.' }),
    has_passkeys: Type.Boolean({ description: 'Whether there is a passkey.' }),
    passkeys_enabled_for_2fa: Type.Boolean({ description: 'Whether a passkey is asked for after a password.' }),
    is_demanded: Type.Boolean({ description: 'Whether an organization of the user demands a second factor.' }),
  },
  { title: 'SecondFactorStatus' },
);
export const factorStatusExample = {
  is_enabled: true,
  method: 'TOTP' as const,
  backup_codes_remaining: 10,
  has_totp: true,
  has_passkeys: false,
  passkeys_enabled_for_2fa: false,
  is_demanded: false,
};

export const reauthentication = Type.Object(
  {
    password: Type.Optional(password),
    token: Type.Optional(code),
    credential: Type.Optional(credential),
  },
  { title: 'Reauthentication' },
);

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
const resetToken = Type.String({ minLength: 1, description: 'The secret of the mail.' });
export const resetLook = Type.Object({ token: resetToken }, { title: 'ResetLook' });
export const resetIsValid = Type.Object({}, { title: 'ResetIsValid' });
export const resetUse = Type.Object({ token: resetToken, password: newPassword }, { title: 'ResetUse' });
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
    login_method: Type.String({ description: '`password`, `passkey`, `link` or `invite`.' }),
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
    device: describeBrowser(row.browser),
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

/** Browser and system in words of ours: what a browser calls itself is a text of its user. */
export function describeBrowser(browser: string): string {
  const nameIn = (names: typeof browsers | typeof systems) => names.find(([, pattern]) => pattern.test(browser))?.[0];
  const [program, system] = [nameIn(browsers), nameIn(systems)];
  if (program === undefined && system === undefined) return 'Unknown';
  return [program ?? 'Unknown browser', ...(system === undefined ? [] : [system])].join(' on ');
}
