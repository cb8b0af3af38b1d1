import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/request.ts';
import { hasErrorCode } from '../../frame/sign-in-form.tsx';
import { Button } from '../../parts/button.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { createPasskey, supportsPasskeys } from '../../parts/passkey.ts';
import { QueryContent } from '../../parts/states.tsx';
import { words } from '../../words.ts';
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

export function InvitePage() {
  const { inviteId = '' } = useParams({ strict: false });
  const [secret] = useState(() => keepSecret(inviteId));
  /** The name that the user has typed, or null until the user edits the name from the invite. */
  const [typedName, setTypedName] = useState<string | null>(null);
  const [isSigningIn, setSigningIn] = useState(false);
  const { open } = useOpenAfterSignIn();
  const path = `/api/signup/${encodeURIComponent(inviteId)}`;
  const invite = useQuery({
    queryKey: ['invite', inviteId],
    queryFn: () => call<Invitation>({ method: 'POST', path: `${path}/look`, body: { token: secret } }),
    retry: false,
    enabled: secret !== '',
  });
  const form = useFormSubmission((fields) => ({ method: 'POST', path, body: { ...fields, token: secret } }), open);
  const hasAccount = invite.data?.has_account === true || isSigningIn || hasErrorCode(form.problem, 'account_exists');
  // When the user visits the page again, the URL no longer contains the secret. In most cases, the secret is not
  // needed, because the account has the invited email address.
  if (secret === '' || hasAccount) return <AcceptInvite inviteId={inviteId} secret={secret} />;
  if (invite.error) return <InvalidLink>{text.resetGone}</InvalidLink>;
  return (
    <QueryContent query={invite} what={text.oneMoment}>
      {({ target_email, first_name, organization_name, has_account }) => (
        <SignInLayout title={text.inviteTitle(organization_name)}>
          <p className="quiet">{text.inviteText(target_email)}</p>
          <SubmissionForm form={form} button={text.inviteButton} fields={['first_name', 'password']}>
            <Field
              name="first_name"
              label={text.name}
              autoComplete="name"
              value={typedName ?? first_name}
              onChange={({ target }) => setTypedName(target.value)}
              autoFocus
              problem={form.problem}
            />
            <Field name="password" label={words.password} {...passwordRules} problem={form.problem} />
          </SubmissionForm>
          {supportsPasskeys() && (
            <JoinWithPasskey path={path} secret={secret} name={(typedName ?? first_name).trim()} onDone={open} />
          )}
          {/* If the link was not sent by email, the API does not reveal whether the email address has an account, so offer both joining and signing in. */}
          {has_account === null && (
            <div className="form-buttons">
              <Button onPress={() => setSigningIn(true)}>{text.inviteSignIn}</Button>
            </div>
          )}
        </SignInLayout>
      )}
    </QueryContent>
  );
}

/** Joins the organization with a new passkey, in two steps. The user is a member after the first step. */
function JoinWithPasskey({
  path,
  secret,
  name,
  onDone,
}: {
  path: string;
  secret: string;
  name: string;
  onDone: () => void;
}) {
  const [hasJoined, setJoined] = useState(false);
  const join = useMutation({
    mutationFn: async () => {
      if (!hasJoined) {
        const body = { token: secret, with_passkey: true, ...(name !== '' && { first_name: name }) };
        await call({ method: 'POST', path, body });
        setJoined(true);
      }
      const options = await call({ method: 'POST', path: '/api/webauthn/register/begin' });
      const credential = await createPasskey(options);
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
  has_account: boolean | null;
}

/** Accepts an invite if the user is signed in. If not, shows the sign-in form first. */
function AcceptInvite({ inviteId, secret }: { inviteId: string; secret: string }) {
  const { open } = useOpenAfterSignIn();
  const path = `/api/invites/${encodeURIComponent(inviteId)}/accept`;
  const form = useFormSubmission(() => ({ method: 'POST', path, body: secret === '' ? {} : { token: secret } }), open);
  return (
    <SignInLayout title={text.inviteButton}>
      <p className="quiet">{text.inviteKnown}</p>
      <SubmissionForm form={form} button={text.inviteAccept} fields={[]}>
        {null}
      </SubmissionForm>
      <Link to="/sign-in" search={{ next: `/invite/${inviteId}` } as never}>
        {words.signIn}
      </Link>
    </SignInLayout>
  );
}

/** Invite secrets, which are kept until the page is reloaded, because the user may need to sign in before joining. */
const keptSecrets = new Map<string, string>();

function keepSecret(inviteId: string): string {
  const secret = takeSecretFromUrl() || (keptSecrets.get(inviteId) ?? '');
  if (secret !== '') keptSecrets.set(inviteId, secret);
  return secret;
}
