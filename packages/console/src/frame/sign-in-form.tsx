// The sign-in form, for the sign-in page and for the dialog that opens when a session has ended.

import { useState } from 'react';
import { ApiProblem, call, readSignInProviders, toApiPath } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { Field, FormProblem, readForm } from '../parts/form.tsx';
import { requestPasskey, supportsPasskeys } from '../parts/passkey.ts';
import { words } from '../words.ts';

export interface Methods {
  has_totp: boolean;
  has_passkeys: boolean;
}

interface WaysIn {
  sso_enforcement: string | null;
  saml_available: boolean;
  oidc_available: boolean;
}

/**
 * Sign-in with email and password, a passkey or an identity provider, followed by a second factor if one is required.
 * @param next the URL path to which the identity provider returns the user, with the prefix `/console/`
 * @param startsWith the second-factor methods, if the user has already signed in with the identity provider
 */
export function SignInForm({
  email,
  next = '/console/',
  startsWith = null,
  onDone,
}: {
  email?: string | undefined;
  next?: string;
  startsWith?: Methods | null;
  onDone: () => unknown;
}) {
  const [methods, setMethods] = useState<Methods | null>(startsWith);
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const attempt = async (work: () => Promise<unknown>) => {
    setSending(true);
    setProblem(null);
    try {
      await work();
      await onDone();
    } catch (error) {
      if (!hasErrorCode(error, '2fa_required')) {
        // The user did not enter the second factor in time, so sign-in starts over.
        if (hasErrorCode(error, '2fa_expired')) setMethods(null);
        setProblem(error);
      } else setMethods(await call<Methods>({ path: '/api/login/2fa/methods' }));
    } finally {
      setSending(false);
    }
  };
  const send = (path: string, body: object) => attempt(() => call({ method: 'POST', path, body }));
  const goToProvider = (kind: string, address = '') => {
    const query = new URLSearchParams({ ...(address && { email: address }), next });
    location.assign(`${toApiPath(`/login/${kind}/`)}?${query}`);
  };
  /**
   * Redirects to the identity provider for the email domain or, by default, to the installation's identity provider.
   */
  const findProvider = async (address: string) => {
    setProblem(null);
    try {
      const body = { email: address };
      const ways = await call<WaysIn>({ method: 'POST', path: '/api/login/precheck', body });
      const kind = ways.sso_enforcement ?? (ways.saml_available ? 'saml' : ways.oidc_available ? 'oidc' : null);
      if (kind !== null) return goToProvider(kind, address);
      throw new ApiProblem(400, { code: 'no_sso', detail: words.noSingleSignOn, attr: 'email' }, new Headers());
    } catch (error) {
      setProblem(error);
    }
  };
  if (methods !== null) return <SecondStep {...{ methods, problem, isSending, attempt, send }} />;
  return (
    <form
      className="form"
      onSubmit={(event) => {
        const fields = readForm(event) as { email: string };
        void attempt(async () => {
          try {
            await call({ method: 'POST', path: '/api/login', body: fields });
          } catch (error) {
            if (hasErrorCode(error, 'sso_enforced')) await findProvider(fields.email);
            throw error;
          }
        });
      }}
    >
      <Field
        name="email"
        label={words.email}
        type="email"
        autoComplete="username webauthn"
        autoFocus={email === undefined}
        defaultValue={email}
        problem={problem}
      />
      <Field name="password" label={words.password} type="password" autoComplete="current-password" problem={problem} />
      <FormProblem problem={problem} fields={['email', 'password']} />
      <div className="form-buttons">
        <Button type="submit" look="main" isDisabled={isSending}>
          {words.signIn}
        </Button>
        {supportsPasskeys() && (
          <Button isDisabled={isSending} onPress={() => void attempt(enterByPasskey)}>
            {words.byPasskey}
          </Button>
        )}
        <Button
          isDisabled={isSending}
          onPress={(event) => {
            const field = event.target.closest('form')?.elements.namedItem('email') as HTMLInputElement;
            if (field.reportValidity()) void findProvider(field.value);
          }}
        >
          {words.bySingleSignOn}
        </Button>
        {readSignInProviders().map(({ kind, name }) => (
          <Button key={kind} isDisabled={isSending} onPress={() => goToProvider(kind)}>
            {words.byProvider(name)}
          </Button>
        ))}
      </div>
    </form>
  );
}

function SecondStep({
  methods,
  problem,
  isSending,
  attempt,
  send,
}: {
  methods: Methods;
  problem: unknown;
  isSending: boolean;
  attempt: (work: () => Promise<unknown>) => Promise<void>;
  send: (path: string, body: object) => Promise<void>;
}) {
  const [remember, setRemember] = useState(false);
  const path = '/api/login/token';
  const showPasskey = async () => {
    const options = await call({ method: 'POST', path: '/api/login/2fa/passkey/begin' });
    const credential = await requestPasskey(options);
    await call({ method: 'POST', path, body: { credential, remember } });
  };
  return (
    <form className="form" onSubmit={(event) => void send(path, { ...readForm(event), remember })}>
      <CodeField problem={problem} autoFocus />
      <label className="settings-choice">
        <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
        {words.rememberFactor}
      </label>
      <FormProblem problem={problem} fields={['token']} />
      <div className="form-buttons">
        <Button type="submit" look="main" isDisabled={isSending}>
          {words.signIn}
        </Button>
        {methods.has_passkeys && supportsPasskeys() && (
          <Button isDisabled={isSending} onPress={() => void attempt(showPasskey)}>
            {words.byPasskey}
          </Button>
        )}
      </div>
    </form>
  );
}

export function CodeField({ problem, autoFocus = false }: { problem: unknown; autoFocus?: boolean }) {
  return (
    <Field
      name="token"
      label={words.code}
      autoComplete="one-time-code"
      autoFocus={autoFocus}
      maxLength={40}
      hint={words.codeHint}
      problem={problem}
    />
  );
}

async function enterByPasskey(): Promise<void> {
  await call({
    method: 'POST',
    path: '/api/webauthn/login/complete',
    body: { credential: await signInWithAnyPasskey() },
  });
}

export async function signInWithAnyPasskey(): Promise<object> {
  return requestPasskey(await call({ method: 'POST', path: '/api/webauthn/login/begin' }));
}

export const hasErrorCode = (error: unknown, code: string) => error instanceof ApiProblem && error.code === code;
