// The pages for users who are not signed in: sign-in, one-time links, password reset and second factor setup.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../../api/request.ts';
import { type Methods, SignInForm } from '../../frame/sign-in-form.tsx';
import { isUuid } from '../../parts/address.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/form.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { SecondFactors } from '../settings/account/second-factor.tsx';
import { SignInConfirmation } from '../settings/recent-sign-in.tsx';
import {
  InvalidLink,
  passwordRules,
  SignInLayout,
  SubmissionForm,
  takeSecretFromUrl,
  useFormSubmission,
  useOpenAfterSignIn,
} from './entry.tsx';
import { text } from './words.ts';

/** Signs the user in with any sign-in method, and then opens the page that required the sign-in. */
export function SignInPage() {
  const { open } = useOpenAfterSignIn();
  const [parameters] = useState(() => new URLSearchParams(location.search));
  const [secrets] = useState(() => new URLSearchParams(takeSecretFromUrl()));
  const halves = useQuery({
    queryKey: ['second-step'],
    queryFn: () => call<Methods>({ path: '/api/login/2fa/methods' }),
    retry: false,
    enabled: parameters.has('second_factor'),
  });
  const ticket = secrets.get('confirm');
  if (ticket !== null) return <ConfirmSignIn ticket={ticket} />;
  if (halves.isLoading) return <SignInLayout title={text.signIn}>{null}</SignInLayout>;
  const next = parameters.get('next') ?? '/';
  const code = parameters.get('error_code');
  const errorId = parameters.get('error_id');
  return (
    <SignInLayout title={text.signIn}>
      {code !== null && (
        <p className="bad" role="alert">
          {text.failed(sentenceOf(code), errorId !== null && isUuid(errorId) ? errorId : null)}
        </p>
      )}
      <SignInForm
        next={next.startsWith('/console/') ? next : `/console${next}`}
        startsWith={halves.data ?? null}
        onDone={open}
      />
      <Link to="/reset">{text.forgot}</Link>
    </SignInLayout>
  );
}

/**
 * Returns the message for an error code in the URL. An unknown code gets a general message, because any website can
 * link to this page with any code.
 */
function sentenceOf(code: string): string {
  if (code.endsWith('_sso_enforced')) return text.enforced;
  return Object.hasOwn(text.failures, code) ? (text.failures[code] as string) : text.failedOtherwise;
}

/** Completes a sign-in with an identity provider after the user has confirmed it. */
function ConfirmSignIn({ ticket }: { ticket: string }) {
  const { open } = useOpenAfterSignIn();
  const look = useQuery({
    queryKey: ['sign-in-ticket', ticket],
    queryFn: () => call<{ email: string | null }>({ method: 'POST', path: '/api/login/sso/look', body: { ticket } }),
    retry: false,
  });
  const form = useFormSubmission(() => ({ method: 'POST', path: '/api/login/sso', body: { ticket } }), open);
  if (look.error) return <InvalidLink>{text.failures.state_unknown}</InvalidLink>;
  return (
    <QueryContent query={look} what={text.oneMoment}>
      {({ email }) => (
        <SignInLayout title={text.confirmTitle(email)}>
          <p className="quiet">{text.confirmText}</p>
          <SubmissionForm form={form} button={text.confirmButton} fields={[]}>
            {null}
          </SubmissionForm>
          <Link to="/sign-in">{text.backToSignIn}</Link>
        </SignInLayout>
      )}
    </QueryContent>
  );
}

/** The page `/enter#<secret>` for one-time links, which sign a user in or create an installation's first account. */
export function EnterPage() {
  const [secret] = useState(takeSecretFromUrl);
  const { open } = useOpenAfterSignIn();
  const look = useQuery({
    queryKey: ['console-link', secret],
    queryFn: () =>
      call<{ kind: 'sign_in'; email: string } | { kind: 'first_owner' }>({
        method: 'POST',
        path: '/api/console_link/look',
        body: { secret },
      }),
    retry: false,
  });
  const form = useFormSubmission(
    (fields) => ({ method: 'POST', path: '/api/console_link', body: { ...fields, secret } }),
    open,
  );
  const isSignIn = look.data?.kind === 'sign_in';
  const { submit } = form;
  // The user has just clicked the link, so further confirmation is not necessary.
  useEffect(() => {
    if (isSignIn) void submit(new FormData());
  }, [isSignIn, submit]);
  if (look.error || (isSignIn && form.problem)) return <InvalidLink>{text.linkGone}</InvalidLink>;
  return (
    <QueryContent query={look} what={text.oneMoment}>
      {(found) =>
        found.kind === 'sign_in' ? (
          <SignInLayout title={text.enterTitle(found.email)}>
            <p className="quiet" role="status">
              {text.oneMoment}
            </p>
          </SignInLayout>
        ) : (
          <SignInLayout title={text.firstTitle}>
            <p className="quiet">{text.firstText}</p>
            <SubmissionForm
              form={form}
              button={text.firstButton}
              fields={['email', 'first_name', 'password', 'organization_name']}
            >
              <Field name="first_name" label={text.name} autoComplete="name" autoFocus problem={form.problem} />
              <Field name="email" label={words.email} type="email" autoComplete="username" problem={form.problem} />
              <Field name="password" label={words.password} {...passwordRules} problem={form.problem} />
              <Field
                name="organization_name"
                label={text.organization}
                autoComplete="organization"
                problem={form.problem}
              />
            </SubmissionForm>
          </SignInLayout>
        )
      }
    </QueryContent>
  );
}

export function AskResetPage() {
  const [isRequested, setRequested] = useState(false);
  const form = useFormSubmission(
    (fields) => ({ method: 'POST', path: '/api/reset', body: fields }),
    () => setRequested(true),
  );
  return (
    <SignInLayout title={text.askTitle}>
      {isRequested ? (
        <p role="status">{text.requested}</p>
      ) : (
        <>
          <p className="quiet">{text.askText}</p>
          <SubmissionForm form={form} button={text.askButton} fields={['email']}>
            <Field
              name="email"
              label={words.email}
              type="email"
              autoComplete="username"
              autoFocus
              problem={form.problem}
            />
          </SubmissionForm>
        </>
      )}
      <Link to="/sign-in">{text.backToSignIn}</Link>
    </SignInLayout>
  );
}

/** The page `/reset/<user>#<token>`, to which password reset emails link. */
export function ResetPage() {
  const { userId = '' } = useParams({ strict: false });
  const [token] = useState(takeSecretFromUrl);
  const [isDone, setDone] = useState(false);
  const path = `/api/reset/${encodeURIComponent(userId)}`;
  const check = useQuery({
    queryKey: ['reset', userId],
    queryFn: () => call<object>({ method: 'POST', path: `${path}/look`, body: { token } }),
    retry: false,
  });
  const form = useFormSubmission(
    (fields) => ({ method: 'POST', path, body: { ...fields, token } }),
    () => setDone(true),
  );
  if (check.error) return <InvalidLink>{text.resetGone}</InvalidLink>;
  return (
    <SignInLayout title={text.askTitle}>
      {isDone ? (
        <p role="status">{text.resetDone}</p>
      ) : (
        <SubmissionForm form={form} button={text.resetButton} fields={['password']}>
          <Field name="password" label={text.newPassword} {...passwordRules} autoFocus problem={form.problem} />
        </SubmissionForm>
      )}
      <Link to="/sign-in">{text.backToSignIn}</Link>
    </SignInLayout>
  );
}

/** The page `/second-factor`, where users set up a second factor if the organization requires it. */
export function SecondFactorPage() {
  const { open } = useOpenAfterSignIn();
  return (
    <SignInLayout title={text.factorTitle}>
      <p className="quiet">{text.factorText}</p>
      <SecondFactors />
      <div className="form-buttons">
        <Button look="main" onPress={open}>
          {text.factorDone}
        </Button>
      </div>
      <SignInConfirmation />
    </SignInLayout>
  );
}
