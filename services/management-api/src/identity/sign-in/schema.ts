import type { selectSessions } from '@millrace/accounts';
import { formatDateTime, freeFormObject } from '@millrace/http';
import { Type } from 'typebox';

const email = Type.String({ minLength: 1, description: 'Email address of the account. Case-insensitive.' });
const password = Type.String({ minLength: 1, format: 'password', description: 'Password of the account.' });
const newPassword = Type.String({
  minLength: 1,
  format: 'password',
  description: 'New password. It must have 8 to 256 characters and must not be easy to guess.',
});
const secret = Type.String({ minLength: 1, description: "The link's secret, which is the part after the `#`." });

export const done = Type.Object({ success: Type.Boolean({ description: 'Always true.' }) }, { title: 'Done' });

export const precheck = Type.Object({ email }, { title: 'SignInQuestion' });
export const signInMethods = Type.Object(
  {
    password_login_available: Type.Boolean({
      description: 'Whether users with this address can sign in with a password.',
    }),
    sso_enforcement: Type.Union([Type.String(), Type.Null()], {
      description: 'The only provider with which users with this address can sign in. Null if no provider is enforced.',
    }),
    saml_available: Type.Boolean({ description: 'Whether users with this address can sign in with SAML.' }),
    oidc_available: Type.Boolean({
      description:
        'Whether users with this address can sign in with OpenID Connect, through the provider of their domain or ' +
        'of the ' +
        'installation.',
    }),
    social_providers: Type.Record(Type.String(), Type.Boolean(), {
      description:
        'Whether users with this address can sign in with `google-oauth2`, `github` and `gitlab`. Contains only ' +
        'the providers that are set up in the installation.',
    }),
  },
  { title: 'WaysIn' },
);
export const signInMethodsExample = {
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
  description: 'Six-digit code from the authenticator app, or a backup code.',
});
/** A browser's response to a WebAuthn challenge, with WebAuthn's field names. */
const credential = freeFormObject({ description: 'The credential returned by `navigator.credentials`, as JSON.' });
const credentialOptions = freeFormObject({ description: 'Options for `navigator.credentials`, as JSON (WebAuthn).' });

export const secondStep = Type.Object(
  {
    token: Type.Optional(code),
    credential: Type.Optional(credential),
    remember: Type.Optional(
      Type.Boolean({
        description: 'Whether to skip the second factor in this browser for 30 days. Defaults to false.',
      }),
    ),
  },
  { title: 'SecondStep' },
);
export const secondStepMethods = Type.Object(
  {
    has_totp: Type.Boolean({ description: 'Whether the user can enter a code from an authenticator app.' }),
    has_passkeys: Type.Boolean({ description: 'Whether the user can use a passkey.' }),
  },
  { title: 'SecondStepMethods' },
);
export const passkeyOptions = credentialOptions;
export const passkeySignIn = Type.Object({ credential }, { title: 'PasskeySignIn' });
export const passkeyRegistration = Type.Object(
  {
    credential,
    label: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Name of the passkey. Defaults to `Passkey`.' }),
    ),
  },
  { title: 'PasskeyRegistration' },
);
export const passkeyChanges = Type.Object(
  { label: Type.String({ minLength: 1, maxLength: 200, description: 'New name of the passkey.' }) },
  { title: 'PasskeyChanges' },
);
export const passkey = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the passkey.' }),
    label: Type.String({ description: 'Name of the passkey.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the passkey was registered.' }),
    last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the passkey was last used. Null if the passkey has not been used.',
    }),
    transports: Type.Array(Type.String(), {
      description: 'How browsers can reach the authenticator, for example `internal` or `usb`.',
    }),
    verified: Type.Boolean({ description: 'Always true, because a passkey is verified when it is registered.' }),
    authenticator_type: Type.Enum(['platform', 'hybrid', 'hardware', 'unknown'], {
      description:
        'Where the passkey is stored: on the device (`platform`), on a phone (`hybrid`) or on a security key ' +
        '(`hardware`).',
    }),
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
    secret: Type.String({ description: 'Base32-encoded secret to type into an authenticator app.' }),
    uri: Type.String({ description: 'URI to show as a QR code for authenticator apps.' }),
  },
  { title: 'TotpSetup' },
);
export const totpCode = Type.Object({ token: code }, { title: 'TotpCode' });
export const backupCodes = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    backup_codes: Type.Array(Type.String(), {
      description: 'Backup codes. Each can be used once. They cannot be shown again.',
    }),
  },
  { title: 'BackupCodes' },
);
export const backupCodesExample = { success: true, backup_codes: ['k3f9q-x7mp2', 'w8ndt-4hjr6'] };
export const secondFactorStatus = Type.Object(
  {
    is_enabled: Type.Boolean({ description: 'Whether a second factor is required after the password.' }),
    method: Type.Union([Type.Enum(['TOTP', 'passkey']), Type.Null()], {
      description: 'The second factor that is required after the password. Null if none is required.',
    }),
    backup_codes_remaining: Type.Integer({ description: 'Number of unused backup codes.' }),
    has_totp: Type.Boolean({ description: 'Whether an authenticator app is connected.' }),
    has_passkeys: Type.Boolean({ description: 'Whether the user has a passkey.' }),
    passkeys_enabled_for_2fa: Type.Boolean({ description: 'Whether a passkey is required after the password.' }),
    is_demanded: Type.Boolean({ description: "Whether one of the user's organizations requires a second factor." }),
  },
  { title: 'SecondFactorStatus' },
);
export const secondFactorStatusExample = {
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

export const linkLookup = Type.Object({ secret }, { title: 'LinkLook' });
export const linkDescription = Type.Object(
  {
    kind: Type.Enum(['sign_in', 'first_owner'], {
      description:
        'Purpose of the link. `sign_in` signs in to an account, and `first_owner` creates the first account of the ' +
        'installation.',
    }),
    email: Type.Optional(
      Type.String({
        description: 'Email address of the account that the link signs in to. Absent for the first owner.',
      }),
    ),
  },
  { title: 'LinkMeaning' },
);
export const linkUse = Type.Object(
  {
    secret,
    email: Type.Optional(
      Type.String({ description: 'Email address of the first owner. Required if the link is for the first owner.' }),
    ),
    first_name: Type.Optional(Type.String({ description: 'First name of the first owner.' })),
    password: Type.Optional(
      Type.String({
        format: 'password',
        description: 'Password of the first owner. Required if the link is for the first owner.',
      }),
    ),
    organization_name: Type.Optional(
      Type.String({ description: 'Name of the new organization. Required if the link is for the first owner.' }),
    ),
  },
  { title: 'LinkUse' },
);
export const firstOwner = Type.Object({
  email: Type.String({ format: 'email', minLength: 1, maxLength: 254 }),
  first_name: Type.Optional(Type.String({ maxLength: 150 })),
  password: newPassword,
  organization_name: Type.String({ minLength: 1, maxLength: 64 }),
});

export const resetRequest = Type.Object({ email }, { title: 'ResetQuestion' });
const resetToken = Type.String({ minLength: 1, description: 'Secret from the email.' });
export const resetLookup = Type.Object({ token: resetToken }, { title: 'ResetLook' });
export const resetIsValid = Type.Object({}, { title: 'ResetIsValid' });
export const passwordResetConfirm = Type.Object({ token: resetToken, password: newPassword }, { title: 'ResetUse' });
export const resetDone = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    email: Type.String({ description: 'Email address of the account.' }),
  },
  { title: 'ResetDone' },
);

export const loginSession = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the session.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the session started.' }),
    last_activity: Type.String({
      format: 'date-time',
      description: 'When the session was last used, accurate to five minutes.',
    }),
    location: Type.String({ description: 'IP address from which the session was started.' }),
    device: Type.String({ description: 'Browser and operating system, as reported by the browser.' }),
    login_method: Type.String({
      description:
        'How the user signed in: `password`, `passkey`, `link`, `invite`, or the provider (`google-oauth2`, ' +
        '`github`, ' +
        '`gitlab`, `saml`, `oidc`).',
    }),
    is_current: Type.Boolean({ description: 'Whether this is the session used for the request.' }),
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
  { revoked_count: Type.Integer({ description: 'Number of sessions that were ended.' }) },
  { title: 'RevokedSessions' },
);

type SessionRow = Awaited<ReturnType<typeof selectSessions>>[number];

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

/**
 * Recognized browsers. More specific patterns come first, because the user agents of many browsers also contain the
 * names of other browsers.
 */
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

/**
 * Describes the browser and the operating system with fixed names, because a client can send any string as its user
 * agent.
 */
export function describeBrowser(browser: string): string {
  const nameIn = (names: typeof browsers | typeof systems) => names.find(([, pattern]) => pattern.test(browser))?.[0];
  const [program, system] = [nameIn(browsers), nameIn(systems)];
  if (program === undefined && system === undefined) return 'Unknown';
  return [program ?? 'Unknown browser', ...(system === undefined ? [] : [system])].join(' on ');
}
