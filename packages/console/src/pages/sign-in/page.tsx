import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { queryClient, sessionEnd } from '../../api/queries.ts';
import { type ApiCall, call, consolePath } from '../../api/request.ts';
import { type Methods, SignInForm } from '../../frame/sign-in-form.tsx';
import { Button } from '../../parts/button.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { knowsPasskeys, makePasskey } from '../../parts/passkey.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { SecondFactors } from '../settings/account/second-factor.tsx';
import { ConfirmItIsYou } from '../settings/recent-sign-in.tsx';
import { text } from './words.ts';

const passwordRules = { type: 'password', autoComplete: 'new-password', minLength: 8, hint: words.passwordHint };

/** By whatever way, then back to the address that asked for it. */
export function SignInPage() {
  const { open } = useEntered();
  const [asked] = useState(() => new URLSearchParams(location.search));
  const [secrets] = useState(() => new URLSearchParams(takeSecret()));
  const halves = useQuery({
    queryKey: ['second-step'],
    queryFn: () => call<Methods>({ path: '/api/login/2fa/methods' }),
    retry: false,
    enabled: asked.has('second_factor'),
  });
  const ticket = secrets.get('confirm');
  if (ticket !== null) return <ConfirmSignIn ticket={ticket} />;
  if (halves.isLoading) return <Entry title={text.signIn}>{null}</Entry>;
  const next = asked.get('next') ?? '/';
  const code = asked.get('error_code');
  return (
    <Entry title={text.signIn}>
      {code !== null && (
        <p className="bad" role="alert">
          {text.failed(sentenceOf(code), asked.get('error_id'))}
        </p>
      )}
      <SignInForm
        next={next.startsWith('/console/') ? next : `/console${next}`}
        startsWith={halves.data ?? null}
        onDone={open}
      />
      <Link to="/reset">{text.forgot}</Link>
    </Entry>
  );
}

/** Only sentences of our own: the address of the page may be anybody's. */
function sentenceOf(code: string): string {
  if (code.endsWith('_sso_enforced')) return text.enforced;
  return Object.hasOwn(text.failures, code) ? (text.failures[code] as string) : text.failedOtherwise;
}

/** What a provider's own page began is finished by its person. */
function ConfirmSignIn({ ticket }: { ticket: string }) {
  const { open } = useEntered();
  const look = useQuery({
    queryKey: ['sign-in-ticket', ticket],
    queryFn: () => call<{ email: string | null }>({ method: 'POST', path: '/api/login/sso/look', body: { ticket } }),
    retry: false,
  });
  const form = useForm(() => ({ method: 'POST', path: '/api/login/sso', body: { ticket } }), open);
  if (look.error) return <LinkGone>{text.failures.state_unknown}</LinkGone>;
  return (
    <Loaded query={look} what={text.oneMoment}>
      {({ email }) => (
        <Entry title={text.confirmTitle(email)}>
          <p className="quiet">{text.confirmText}</p>
          <Form form={form} button={text.confirmButton} fields={[]}>
            {null}
          </Form>
          <Link to="/sign-in">{text.backToSignIn}</Link>
        </Entry>
      )}
    </Loaded>
  );
}

/** `/enter#<secret>`: a one-time link signs its person in, or makes the first account of an installation. */
export function EnterPage() {
  const [secret] = useState(takeSecret);
  const { open } = useEntered();
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
  const form = useForm((fields) => ({ method: 'POST', path: '/api/console_link', body: { ...fields, secret } }), open);
  const isSignIn = look.data?.kind === 'sign_in';
  const { submit } = form;
  // Nobody has to press a button for a link they have just clicked.
  useEffect(() => {
    if (isSignIn) void submit(new FormData());
  }, [isSignIn, submit]);
  if (look.error || (isSignIn && form.problem)) return <LinkGone>{text.linkGone}</LinkGone>;
  return (
    <Loaded query={look} what={text.oneMoment}>
      {(found) =>
        found.kind === 'sign_in' ? (
          <Entry title={text.enterTitle(found.email)}>
            <p className="quiet" role="status">
              {text.oneMoment}
            </p>
          </Entry>
        ) : (
          <Entry title={text.firstTitle}>
            <p className="quiet">{text.firstText}</p>
            <Form
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
            </Form>
          </Entry>
        )
      }
    </Loaded>
  );
}

export function AskResetPage() {
  const [isAsked, setAsked] = useState(false);
  const form = useForm(
    (fields) => ({ method: 'POST', path: '/api/reset', body: fields }),
    () => setAsked(true),
  );
  return (
    <Entry title={text.askTitle}>
      {isAsked ? (
        <p role="status">{text.asked}</p>
      ) : (
        <>
          <p className="quiet">{text.askText}</p>
          <Form form={form} button={text.askButton} fields={['email']}>
            <Field
              name="email"
              label={words.email}
              type="email"
              autoComplete="username"
              autoFocus
              problem={form.problem}
            />
          </Form>
        </>
      )}
      <Link to="/sign-in">{text.backToSignIn}</Link>
    </Entry>
  );
}

/** `/reset/<user>#<token>` of the mail. */
export function ResetPage() {
  const { userId = '' } = useParams({ strict: false });
  const [token] = useState(takeSecret);
  const [isDone, setDone] = useState(false);
  const path = `/api/reset/${encodeURIComponent(userId)}`;
  const check = useQuery({
    queryKey: ['reset', userId],
    queryFn: () => call<object>({ path, query: { token } }),
    retry: false,
  });
  const form = useForm(
    (fields) => ({ method: 'POST', path, body: { ...fields, token } }),
    () => setDone(true),
  );
  if (check.error) return <LinkGone>{text.resetGone}</LinkGone>;
  return (
    <Entry title={text.askTitle}>
      {isDone ? (
        <p role="status">{text.resetDone}</p>
      ) : (
        <Form form={form} button={text.resetButton} fields={['password']}>
          <Field name="password" label={text.newPassword} {...passwordRules} autoFocus problem={form.problem} />
        </Form>
      )}
      <Link to="/sign-in">{text.backToSignIn}</Link>
    </Entry>
  );
}

/** `/invite/<id>#<secret>` of the mail: an account of one's own in the organization. */
export function InvitePage() {
  const { inviteId = '' } = useParams({ strict: false });
  const [secret] = useState(() => keepSecret(inviteId));
  const { open } = useEntered();
  const path = `/api/signup/${encodeURIComponent(inviteId)}`;
  const invite = useQuery({
    queryKey: ['invite', inviteId],
    queryFn: () => call<Invitation>({ path, query: { token: secret } }),
    retry: false,
    enabled: secret !== '',
  });
  const form = useForm((fields) => ({ method: 'POST', path, body: { ...fields, token: secret } }), open);
  // Whoever comes back later has no secret any more, and mostly needs none: the account's address is the invited one.
  if (secret === '' || invite.data?.has_account) return <AcceptInvite inviteId={inviteId} secret={secret} />;
  if (invite.error) return <LinkGone>{text.resetGone}</LinkGone>;
  return (
    <Loaded query={invite} what={text.oneMoment}>
      {({ target_email, first_name, organization_name }) => (
        <Entry title={text.inviteTitle(organization_name)}>
          <p className="quiet">{text.inviteText(target_email)}</p>
          <Form form={form} button={text.inviteButton} fields={['first_name', 'password']}>
            <Field
              name="first_name"
              label={text.name}
              autoComplete="name"
              defaultValue={first_name}
              autoFocus
              problem={form.problem}
            />
            <Field name="password" label={words.password} {...passwordRules} problem={form.problem} />
          </Form>
          {knowsPasskeys() && <JoinWithPasskey path={path} secret={secret} onDone={open} />}
        </Entry>
      )}
    </Loaded>
  );
}

/** In place of a password. Who gives up half way has joined already. */
function JoinWithPasskey({ path, secret, onDone }: { path: string; secret: string; onDone: () => void }) {
  const [hasJoined, setJoined] = useState(false);
  const join = useMutation({
    mutationFn: async () => {
      if (!hasJoined) {
        const name = document.querySelector<HTMLInputElement>('input[name=first_name]')?.value.trim();
        const body = { token: secret, with_passkey: true, ...(name && { first_name: name }) };
        await call({ method: 'POST', path, body });
        setJoined(true);
      }
      const options = await call({ method: 'POST', path: '/api/webauthn/register/begin' });
      const credential = await makePasskey(options);
      const body = { credential, label: text.passkeyName };
      await call({ method: 'POST', path: '/api/webauthn/register/complete', body });
    },
    onSuccess: onDone,
  });
  return (
    <div className="form">
      <FormProblem problem={join.error} fields={[]} />
      {hasJoined && join.error !== null && <p className="quiet">{text.inviteJoined}</p>}
      <div className="form-buttons">
        <Button isDisabled={join.isPending} onPress={() => join.mutate()}>
          {text.invitePasskey}
        </Button>
        {hasJoined && join.error !== null && <Button onPress={onDone}>{text.inviteOpen}</Button>}
      </div>
    </div>
  );
}

interface Invitation {
  target_email: string;
  first_name: string;
  organization_name: string;
  has_account: boolean;
}

/** By whoever is signed in, or signs in for it. */
function AcceptInvite({ inviteId, secret }: { inviteId: string; secret: string }) {
  const { open } = useEntered();
  const path = `/api/invites/${encodeURIComponent(inviteId)}/accept`;
  const form = useForm(() => ({ method: 'POST', path, body: secret === '' ? {} : { token: secret } }), open);
  return (
    <Entry title={text.inviteButton}>
      <p className="quiet">{text.inviteKnown}</p>
      <Form form={form} button={text.inviteAccept} fields={[]}>
        {null}
      </Form>
      <Link to="/sign-in" search={{ next: `/invite/${inviteId}` } as never}>
        {words.signIn}
      </Link>
    </Entry>
  );
}

/** `/second-factor`: an organization demands one, and nothing else is shown before it is there. */
export function SecondFactorPage() {
  const { open } = useEntered();
  return (
    <Entry title={text.factorTitle}>
      <p className="quiet">{text.factorText}</p>
      <SecondFactors />
      <div className="form-buttons">
        <Button look="main" onPress={open}>
          {text.factorDone}
        </Button>
      </div>
      <ConfirmItIsYou />
    </Entry>
  );
}

function Entry({ title, children }: { title: string; children: ReactNode }) {
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

function LinkGone({ children }: { children: ReactNode }) {
  return (
    <main className="entry">
      <Empty title={text.linkGoneTitle} icon="gone">
        <p className="quiet">{children}</p>
        <Link to="/sign-in">{text.backToSignIn}</Link>
      </Empty>
    </main>
  );
}

interface FormState {
  problem: unknown;
  isSending: boolean;
  submit: (fields: FormData) => Promise<void>;
}

function Form({
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

/** @param whenDone is told after the server took the form */
function useForm(requestOf: (fields: Record<string, unknown>) => ApiCall, whenDone: () => void): FormState {
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

/** A secret is read from behind the `#`, which no server is sent, and taken out of the address and the history. */
function takeSecret(): string {
  const secret = location.hash.slice(1);
  if (secret !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return secret;
}

/** Secrets of invites until the page is left: signing in lies between opening the link and joining. */
const keptSecrets = new Map<string, string>();

function keepSecret(inviteId: string): string {
  const secret = takeSecret() || (keptSecrets.get(inviteId) ?? '');
  if (secret !== '') keptSecrets.set(inviteId, secret);
  return secret;
}

/** After signing in everything is asked anew, and the page that was wanted is opened. */
function useEntered() {
  const router = useRouter();
  return {
    open: () => {
      const next = new URLSearchParams(location.search).get('next') ?? '/';
      sessionEnd.set(false);
      // What this page itself has asked with a secret that is used up now is not asked again.
      queryClient.removeQueries({ type: 'inactive' });
      // Only an address of the console: what begins with two slashes would be another host's.
      const isOwn = /^\/(?![/\\])/.test(next);
      const path = isOwn ? next : '/';
      const within = path.startsWith(consolePath) ? `/${path.slice(consolePath.length)}` : path;
      router.history.push(consolePath.replace(/\/$/, '') + within, undefined);
    },
  };
}
