// A dialog that requires users to sign in again before they change a sensitive setting.

import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import { meQuery } from '../../api/queries.ts';
import { type ApiCall, ApiProblem, call } from '../../api/request.ts';
import { CodeField, hasErrorCode, signInWithAnyPasskey } from '../../frame/sign-in-form.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem, readForm } from '../../parts/form.tsx';
import { supportsPasskeys } from '../../parts/passkey.ts';
import { words } from '../../words.ts';
import { text } from './words.ts';

/** Resolves the promise that `callWithRecentSignIn` is waiting for. Null while the dialog is closed. */
let waiting: ((isConfirmed: boolean) => void) | null = null;
const watchers = new Set<() => void>();

function setWaiting(next: typeof waiting): void {
  waiting = next;
  for (const watcher of watchers) watcher();
}

/**
 * Sends a request that requires a recent sign-in. If the last sign-in was too long ago, a dialog asks for the password,
 * and the request is repeated. The user's input is kept.
 * @throws ApiProblem the original error if the user closes the dialog
 */
export async function callWithRecentSignIn<Result>(request: ApiCall): Promise<Result> {
  try {
    return await call<Result>(request);
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'sensitive_action_required_reauth') throw error;
    const isConfirmed = await new Promise<boolean>((resolve) => setWaiting(resolve));
    if (!isConfirmed) throw error;
    return call<Result>(request);
  }
}

/** The dialog that `callWithRecentSignIn` opens. Each page renders it once. */
export function SignInConfirmation() {
  const confirm = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => waiting,
  );
  if (confirm === null) return null;
  const close = (isConfirmed: boolean) => {
    setWaiting(null);
    confirm(isConfirmed);
  };
  return <Confirmation onDone={() => close(true)} onClose={() => close(false)} />;
}

function Confirmation({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const { data: me } = useQuery(meQuery);
  const [problem, setProblem] = useState<unknown>(null);
  const [asksCode, setAsksCode] = useState(false);
  const confirm = async (body: () => object | Promise<object>) => {
    try {
      await call({ method: 'POST', path: '/api/reauthenticate', body: await body() });
      onDone();
    } catch (error) {
      if (hasErrorCode(error, '2fa_required')) setAsksCode(true);
      setProblem(error);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const fields = readForm(event);
    void confirm(() => fields);
  };
  return (
    <Dialog title={text.confirmTitle} onClose={onClose}>
      <p className="quiet">{text.confirmText(me?.email ?? '')}</p>
      <form className="form" onSubmit={submit}>
        <Field
          name="password"
          label={words.password}
          type="password"
          autoComplete="current-password"
          autoFocus
          problem={problem}
        />
        {asksCode && <CodeField problem={problem} autoFocus />}
        <FormProblem problem={problem} fields={['password', 'token']} />
        <div className="form-buttons">
          <Button type="submit" look="main">
            {text.confirm}
          </Button>
          {supportsPasskeys() && (
            <Button onPress={() => void confirm(async () => ({ credential: await signInWithAnyPasskey() }))}>
              {words.byPasskey}
            </Button>
          )}
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
