import { useState } from 'react';
import { ApiProblem, call } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { Field, FormProblem, filled } from '../parts/form.tsx';
import { askPasskey, knowsPasskeys } from '../parts/passkey.ts';
import { words } from '../words.ts';

interface Methods {
  has_totp: boolean;
  has_passkeys: boolean;
}

/** E-mail and password or a passkey, and the second factor where one is asked for. */
export function SignInForm({ email, onDone }: { email?: string | undefined; onDone: () => unknown }) {
  const [methods, setMethods] = useState<Methods | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const attempt = async (work: () => Promise<unknown>) => {
    setSending(true);
    setProblem(null);
    try {
      await work();
      await onDone();
    } catch (error) {
      if (!isCode(error, '2fa_required')) {
        // The time of the first half is over.
        if (isCode(error, '2fa_expired')) setMethods(null);
        setProblem(error);
      } else setMethods(await call<Methods>({ path: '/api/login/2fa/methods' }));
    } finally {
      setSending(false);
    }
  };
  const send = (path: string, body: object) => attempt(() => call({ method: 'POST', path, body }));
  if (methods !== null) return <SecondStep {...{ methods, problem, isSending, attempt, send }} />;
  return (
    <form className="form" onSubmit={(event) => void send('/api/login', filled(event))}>
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
        {knowsPasskeys() && (
          <Button isDisabled={isSending} onPress={() => void attempt(enterByPasskey)}>
            {words.byPasskey}
          </Button>
        )}
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
    const credential = await askPasskey(options);
    await call({ method: 'POST', path, body: { credential, remember } });
  };
  return (
    <form className="form" onSubmit={(event) => void send(path, { ...filled(event), remember })}>
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
        {methods.has_passkeys && knowsPasskeys() && (
          <Button isDisabled={isSending} onPress={() => void attempt(showPasskey)}>
            {words.byPasskey}
          </Button>
        )}
      </div>
    </form>
  );
}

/** What an app shows, or a backup code. */
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
  await call({ method: 'POST', path: '/api/webauthn/login/complete', body: { credential: await anyPasskey() } });
}

/** Of those this browser has for the installation. */
export async function anyPasskey(): Promise<object> {
  return askPasskey(await call({ method: 'POST', path: '/api/webauthn/login/begin' }));
}

export const isCode = (error: unknown, code: string) => error instanceof ApiProblem && error.code === code;
