// The user's own account: email address, activity and deletion.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery, queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, FormProblem, readForm } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatTime } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from '../words.ts';

const own = '/api/users/@me';

/**
 * Shows the account's email address. A new email address takes effect after the user enters the code that was sent to
 * it.
 */
export function EmailAddressBlock({ email, pending }: { email: string; pending: string | null }) {
  const refresh = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  const requestChange = useMutation({
    mutationFn: (body: object) => callWithRecentSignIn({ method: 'PATCH', path: own, body }),
    onSuccess: refresh,
  });
  const verify = useMutation({
    mutationFn: (body: object) => call({ method: 'POST', path: '/api/users/verify_email', body }),
    onSuccess: refresh,
  });
  const cancelChange = useMutation({
    mutationFn: () => call({ method: 'PATCH', path: '/api/users/cancel_email_change_request' }),
    onSuccess: refresh,
  });
  const again = useMutation({
    mutationFn: () => call({ method: 'POST', path: '/api/users/request_email_verification' }),
  });
  if (pending === null) {
    return (
      <SettingsBlock title={words.email} about={text.emailText(email)}>
        <form
          className="form settings-form"
          onChange={() => requestChange.reset()}
          onSubmit={(event) => requestChange.mutate(readForm(event))}
        >
          <Field name="email" label={text.newEmail} type="email" autoComplete="email" problem={requestChange.error} />
          <FormProblem problem={requestChange.error} fields={['email']} />
          <div className="form-buttons">
            <Button type="submit" isDisabled={requestChange.isPending}>
              {text.changeEmail}
            </Button>
          </div>
        </form>
      </SettingsBlock>
    );
  }
  return (
    <SettingsBlock title={words.email} about={text.emailWaits(pending)}>
      <form
        className="form settings-form"
        onChange={() => verify.reset()}
        onSubmit={(event) => verify.mutate(readForm(event))}
      >
        <Field name="code" label={words.code} autoComplete="one-time-code" maxLength={20} problem={verify.error} />
        <FormProblem problem={verify.error ?? again.error ?? cancelChange.error} fields={['code']} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={verify.isPending}>
            {text.proveEmail}
          </Button>
          <Button isDisabled={again.isPending} onPress={() => again.mutate()}>
            {again.isSuccess ? text.codeSent : text.anotherCode}
          </Button>
          <Button onPress={() => cancelChange.mutate()}>{text.keepEmail(email)}</Button>
        </div>
      </form>
    </SettingsBlock>
  );
}

interface Entry {
  activity: string;
  detail: { changes: { field: string; after: unknown }[] | null };
  created_at: string;
}

export function AccountHistory() {
  const { timezone } = useProject();
  const history = useQuery({
    queryKey: ['settings', 'own-activity'],
    queryFn: ({ signal }) => call<{ results: Entry[] }>({ path: `${own}/activity`, query: { limit: 20 } }, signal),
  });
  return (
    <SettingsBlock title={text.history} about={text.historyText}>
      <QueryContent query={history} what={text.history}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">{text.noHistory}</p>
          ) : (
            <ul className="settings-history">
              {results.map((entry) => (
                <li key={entry.created_at + entry.activity}>
                  <time dateTime={entry.created_at}>
                    {formatTime(entry.created_at, timezone).replace(/\.\d+$/, '')}
                  </time>{' '}
                  {sentence(entry)}
                </li>
              ))}
            </ul>
          )
        }
      </QueryContent>
    </SettingsBlock>
  );
}

function sentence({ activity, detail }: Entry): string {
  const changes = detail.changes ?? [];
  const value = (field: string) => String(changes.find((change) => change.field === field)?.after ?? '');
  if (activity === 'logged_in') return text.enteredFrom(value('address'));
  const fixed = text.happened[activity];
  return fixed ?? text.changedFields(changes.map(({ field }) => field.replaceAll('_', ' ')).join(', '));
}

/** A dialog for deleting the account. The user must type its email address to confirm. */
export function RemoveAccount({ email }: { email: string }) {
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  return (
    <SettingsBlock
      title={text.removeAccount}
      about={text.removeAccountText}
      buttons={
        <Button look="danger" onPress={() => setConfirming(true)}>
          {text.removeAccount}
        </Button>
      }
    >
      {isConfirming && (
        <ConfirmationDialog
          title={text.removeAccountTitle}
          verb={text.removeAccount}
          typed={{ label: words.email, text: email }}
          onClose={() => setConfirming(false)}
          act={async () => {
            await callWithRecentSignIn({ method: 'DELETE', path: own });
            queryClient.clear();
            await navigate({ to: '/sign-in' });
          }}
        >
          {text.removeAccountText}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}
