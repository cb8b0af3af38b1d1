// Components for the pages of users who are not signed in.

import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { queryClient, sessionEnd } from '../../api/queries.ts';
import { type ApiCall, call, consolePath } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { text } from './words.ts';

export const passwordRules = { type: 'password', autoComplete: 'new-password', minLength: 8, hint: words.passwordHint };

export function SignInLayout({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${words.product}`;
  }, [title]);
  return (
    <main className="entry">
      <span className="rail-brand">
        <Icon name="mill" size={20} />
        {words.product}
      </span>
      <div className="entry-panel">
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

export function InvalidLink({ children }: { children: ReactNode }) {
  return (
    <main className="entry">
      <EmptyState title={text.linkGoneTitle} icon="gone">
        <p className="quiet">{children}</p>
        <Link to="/sign-in">{text.backToSignIn}</Link>
      </EmptyState>
    </main>
  );
}

interface FormState {
  problem: unknown;
  isSending: boolean;
  submit: (fields: FormData) => Promise<void>;
}

export function SubmissionForm({
  form,
  button,
  fields,
  children,
}: {
  form: FormState;
  button: string;
  fields: string[];
  children: ReactNode;
}) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit(new FormData(event.currentTarget));
      }}
    >
      {children}
      <FormProblem problem={form.problem} fields={fields} />
      <div className="form-buttons">
        <Button type="submit" look="main" isDisabled={form.isSending}>
          {button}
        </Button>
      </div>
    </form>
  );
}

/**
 * Submits a form with the request from `requestOf`.
 * @param whenDone a function that is called after the server has accepted the request
 */
export function useFormSubmission(
  requestOf: (fields: Record<string, unknown>) => ApiCall,
  whenDone: () => void,
): FormState {
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const submit = async (fields: FormData) => {
    setSending(true);
    setProblem(null);
    try {
      await call(requestOf(Object.fromEntries(fields)));
      whenDone();
    } catch (error) {
      setProblem(error);
    } finally {
      setSending(false);
    }
  };
  const [first] = useState(() => ({ submit }));
  first.submit = submit;
  const [stable] = useState(() => (fields: FormData) => first.submit(fields));
  return { problem, isSending, submit: stable };
}

/**
 * Reads a secret from the URL fragment, which browsers do not send to servers. Removes the secret from the URL and the
 * browser history.
 */
export function takeSecretFromUrl(): string {
  const secret = location.hash.slice(1);
  if (secret !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return secret;
}

/** Returns a function that discards cached data after the sign-in and opens the page that the user requested. */
export function useOpenAfterSignIn() {
  const router = useRouter();
  return {
    open: () => {
      const next = new URLSearchParams(location.search).get('next') ?? '/';
      sessionEnd.set(false);
      // Remove the current page's queries. Their one-time secret has been used, so repeating them would fail.
      queryClient.removeQueries({ type: 'inactive' });
      // Accept only paths on this host. A URL that begins with two slashes would lead to another host.
      const isOwn = /^\/(?![/\\])/.test(next);
      const path = isOwn ? next : '/';
      const within = path.startsWith(consolePath) ? `/${path.slice(consolePath.length)}` : path;
      router.history.push(consolePath.replace(/\/$/, '') + within, undefined);
    },
  };
}
