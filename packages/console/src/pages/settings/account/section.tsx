// The settings section where users change their own account: name, email address, password, second factors and
// sessions.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Me, meQuery, queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { setTheme, useTheme } from '../../../frame/theme.ts';
import { useUrlState } from '../../../parts/address.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { Field, FormProblem, readForm } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatDay } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock, SuccessMessage } from '../block.tsx';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from '../words.ts';
import { AccountHistory, EmailAddressBlock, RemoveAccount } from './own-account.tsx';
import { SecondFactors } from './second-factor.tsx';

const own = '/api/users/@me';
const sessionsPath = `${own}/login_sessions`;
const sessionsKey = ['settings', 'sessions'];

interface OwnUser extends Me {
  last_name: string;
  pending_email: string | null;
}
interface Session {
  id: string;
  created_at: string;
  last_activity: string;
  location: string;
  device: string;
  login_method: 'password' | 'passkey' | 'link' | 'invite';
  is_current: boolean;
}

export function AccountSection() {
  const { unknown } = useUrlState({});
  const me = useQuery(meQuery);
  const sessions = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => call<Session[]>({ path: sessionsPath }, signal),
  });
  return (
    <>
      <AddressHint unknown={unknown} />
      <QueryContent query={me} what={words.account}>
        {(user) => (
          <>
            <Name user={user as OwnUser} />
            <EmailAddressBlock email={user.email} pending={(user as OwnUser).pending_email} />
            <Password user={user} sessions={sessions.data} />
          </>
        )}
      </QueryContent>
      <SecondFactors />
      <ThemeChoice />
      <SettingsBlock
        title={text.sessions}
        about={text.sessionsText}
        buttons={<EndOthers count={(sessions.data?.length ?? 1) - 1} />}
      >
        <QueryContent query={sessions} what={text.sessions}>
          {(list) => <Sessions sessions={list} />}
        </QueryContent>
      </SettingsBlock>
      <AccountHistory />
      {me.data && <RemoveAccount email={me.data.email} />}
    </>
  );
}

function Name({ user }: { user: OwnUser }) {
  const { first_name, last_name } = user;
  const save = useMutation({
    mutationFn: (body: object) => callWithRecentSignIn({ method: 'PATCH', path: own, body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
  });
  return (
    <SettingsBlock
      title={text.name}
      about={text.nameText(user.email)}
      request={{ method: 'PATCH', path: own, body: { first_name, last_name } }}
    >
      <form
        className="form settings-form"
        onChange={() => save.reset()}
        onSubmit={(event) => save.mutate(readForm(event))}
      >
        <div className="settings-pair">
          <Field
            name="first_name"
            label={text.firstName}
            autoComplete="given-name"
            maxLength={150}
            defaultValue={user.first_name}
            problem={save.error}
          />
          <Field
            name="last_name"
            label={text.lastName}
            autoComplete="family-name"
            maxLength={150}
            required={false}
            defaultValue={user.last_name}
            problem={save.error}
          />
        </div>
        <FormProblem problem={save.error} fields={['first_name', 'last_name']} />
        <div className="form-buttons">
          <Button type="submit" isDisabled={save.isPending}>
            {text.save}
          </Button>
          {save.isSuccess && <SuccessMessage>{text.saved}</SuccessMessage>}
        </div>
      </form>
    </SettingsBlock>
  );
}

/**
 * A form for changing the password. The current password is required, unless the account has no password or the user
 * signed in with a link from the operator.
 */
function Password({ user, sessions }: { user: Me; sessions: Session[] | undefined }) {
  const byLink = sessions?.find((session) => session.is_current)?.login_method === 'link';
  const needsCurrentPassword = user.has_password && !byLink;
  const [round, setRound] = useState(0);
  const save = useMutation({
    mutationFn: (body: object) => callWithRecentSignIn({ method: 'PATCH', path: own, body }),
    onSuccess: () => {
      setRound((before) => before + 1);
      return Promise.all([
        queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: sessionsKey }),
      ]);
    },
  });
  return (
    <SettingsBlock title={user.has_password ? text.password : text.firstPassword} about={text.passwordText}>
      {/* The React key resets the form after saving. */}
      <form
        key={round}
        className="form settings-form"
        onChange={() => save.reset()}
        onSubmit={(event) => save.mutate(readForm(event))}
      >
        <input type="email" autoComplete="username" value={user.email} readOnly hidden />
        <div className="settings-pair">
          {needsCurrentPassword && (
            <Field
              name="current_password"
              label={text.currentPassword}
              type="password"
              autoComplete="current-password"
              problem={save.error}
            />
          )}
          <Field
            name="password"
            label={text.newPassword}
            type="password"
            autoComplete="new-password"
            maxLength={256}
            hint={words.passwordHint}
            problem={save.error}
          />
        </div>
        <FormProblem
          problem={save.error}
          fields={['password', ...(needsCurrentPassword ? ['current_password'] : [])]}
        />
        <div className="form-buttons">
          <Button type="submit" isDisabled={save.isPending}>
            {text.setPassword}
          </Button>
          {save.isSuccess && <SuccessMessage>{text.passwordSet}</SuccessMessage>}
        </div>
      </form>
    </SettingsBlock>
  );
}

function ThemeChoice() {
  const theme = useTheme();
  return (
    <SettingsBlock title={words.theme.label} about={text.themeText}>
      <div className="settings-choices" role="radiogroup" aria-label={words.theme.label}>
        {(['system', 'light', 'dark'] as const).map((one) => (
          <label key={one} className="settings-choice">
            <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
            {words.theme[one]}
          </label>
        ))}
      </div>
    </SettingsBlock>
  );
}

function Sessions({ sessions }: { sessions: Session[] }) {
  const { timezone } = useProject();
  const end = useMutation({
    mutationFn: (id: string) => callWithRecentSignIn({ method: 'DELETE', path: `${sessionsPath}/${id}` }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sessionsKey }),
  });
  return (
    <>
      <FormProblem problem={end.error} fields={[]} />
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{text.columns.browser}</th>
            <th>{text.columns.address}</th>
            <th className="settings-wide">{text.columns.since}</th>
            <th>{text.columns.used}</th>
            <th>
              <span className="only-heard">{text.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ id, device, location, created_at, last_activity, login_method, is_current }) => (
            <tr key={id}>
              <td>
                {device} {is_current && <span className="pill pill-good">{text.thisBrowser}</span>}
              </td>
              <td className="mono">{location}</td>
              <td className="settings-wide">
                {formatDay(created_at, timezone)}, {text.signedInBy[login_method]}
              </td>
              <td data-label={text.columns.used}>{formatAgo(last_activity)}</td>
              <td className="settings-actions">
                {!is_current && (
                  <Button
                    aria-label={text.endSession(device, location)}
                    isDisabled={end.isPending}
                    onPress={() => end.mutate(id)}
                  >
                    {text.end}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function EndOthers({ count }: { count: number }) {
  const [isConfirming, setConfirming] = useState(false);
  if (count < 1) return null;
  return (
    <>
      <Button look="danger" onPress={() => setConfirming(true)}>
        {text.endOthers}
      </Button>
      {isConfirming && (
        <ConfirmationDialog
          title={text.endOthersTitle(count)}
          verb={text.endOthers}
          onClose={() => setConfirming(false)}
          act={async () => {
            await callWithRecentSignIn({ method: 'POST', path: `${sessionsPath}/revoke_others` });
            await queryClient.invalidateQueries({ queryKey: sessionsKey });
          }}
        >
          {text.endOthersText}
        </ConfirmationDialog>
      )}
    </>
  );
}
