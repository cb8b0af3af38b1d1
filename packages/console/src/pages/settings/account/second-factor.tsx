import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { encode } from 'uqr';
import { meQuery, queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { CodeField } from '../../../frame/sign-in-form.tsx';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, FormProblem, readForm } from '../../../parts/form.tsx';
import { createPasskey, supportsPasskeys } from '../../../parts/passkey.ts';
import { QueryContent } from '../../../parts/states.tsx';
import { words } from '../../../words.ts';
import { ConfirmationDialog, OneTimeSecret, SettingsBlock } from '../block.tsx';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from '../words.ts';

const own = '/api/users/@me';
const credentials = '/api/webauthn/credentials';
const statusKey = ['settings', 'second-factor'];
const passkeysKey = ['settings', 'passkeys'];

interface Status {
  is_enabled: boolean;
  backup_codes_remaining: number;
  has_totp: boolean;
  has_passkeys: boolean;
  passkeys_enabled_for_2fa: boolean;
  is_demanded: boolean;
}
interface Passkey {
  id: string;
  label: string;
  created_at: string;
  last_used_at: string | null;
}

const refresh = () =>
  Promise.all(
    [statusKey, passkeysKey, meQuery.queryKey, ['settings', 'sessions']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  );

/** Shows the current user's authenticator app, backup codes and passkeys. */
export function SecondFactors() {
  const status = useQuery({
    queryKey: statusKey,
    queryFn: ({ signal }) => call<Status>({ path: `${own}/two_factor_status` }, signal),
  });
  return (
    <QueryContent query={status} what={text.secondFactor}>
      {(found) => (
        <>
          <App status={found} />
          <Passkeys status={found} />
        </>
      )}
    </QueryContent>
  );
}

function App({ status }: { status: Status }) {
  const [open, setOpen] = useState<'connect' | 'codes' | 'off' | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const close = () => setOpen(null);
  const showCodes = (shown: string[]) => {
    close();
    setCodes(shown);
    void refresh();
  };
  return (
    <>
      {codes && <OneTimeSecret title={text.backupCodes} value={codes.join('\n')} onDone={() => setCodes(null)} />}
      <SettingsBlock
        title={text.secondFactor}
        about={status.is_demanded ? text.secondFactorDemanded : text.secondFactorText}
        buttons={
          <>
            {status.is_enabled && <Button onPress={() => setOpen('codes')}>{text.newBackupCodes}</Button>}
            {status.has_totp ? (
              <Button look="danger" onPress={() => setOpen('off')}>
                {text.disconnectApp}
              </Button>
            ) : (
              <Button look="main" onPress={() => setOpen('connect')}>
                {text.connectApp}
              </Button>
            )}
          </>
        }
      >
        <p>
          {status.has_totp ? <span className="pill pill-good">{text.appConnected}</span> : text.noApp}{' '}
          {status.is_enabled && text.codesLeft(status.backup_codes_remaining)}
        </p>
      </SettingsBlock>
      {open === 'connect' && <ConnectApp onClose={close} onDone={showCodes} />}
      {open === 'codes' && (
        <ConfirmationDialog
          title={text.newBackupCodes}
          verb={text.newBackupCodes}
          onClose={close}
          act={async () => {
            const request = { method: 'POST', path: `${own}/two_factor_backup_codes` } as const;
            showCodes((await callWithRecentSignIn<{ backup_codes: string[] }>(request)).backup_codes);
          }}
        >
          {text.newBackupCodesText}
        </ConfirmationDialog>
      )}
      {open === 'off' && (
        <ConfirmationDialog
          title={text.disconnectAppTitle}
          verb={text.disconnectApp}
          onClose={close}
          act={async () => {
            await callWithRecentSignIn({ method: 'POST', path: `${own}/two_factor_disable` });
            await refresh();
          }}
        >
          {text.disconnectAppText}
        </ConfirmationDialog>
      )}
    </>
  );
}

function ConnectApp({ onClose, onDone }: { onClose: () => void; onDone: (codes: string[]) => void }) {
  // The server creates a new secret each time the dialog opens.
  const setup = useQuery({
    queryKey: ['settings', 'totp-setup'],
    queryFn: () => callWithRecentSignIn<{ secret: string; uri: string }>({ path: `${own}/two_factor_start_setup` }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const validate = useMutation({
    mutationFn: (body: object) =>
      callWithRecentSignIn<{ backup_codes: string[] }>({ method: 'POST', path: `${own}/two_factor_validate`, body }),
    onSuccess: ({ backup_codes: codes }) => onDone(codes),
  });
  return (
    <Dialog title={text.connectApp} onClose={onClose}>
      <QueryContent query={setup} what={text.secondFactor}>
        {({ secret, uri }) => (
          <>
            <p className="quiet">{text.scan}</p>
            <QrCode content={uri} />
            <p>
              {text.orType} <code data-secret="">{secret}</code>
            </p>
            <form
              className="form"
              onSubmit={(event) => validate.mutate(readForm(event))}
              onChange={() => validate.reset()}
            >
              <CodeField problem={validate.error} autoFocus />
              <FormProblem problem={validate.error} fields={['token']} />
              <div className="form-buttons">
                <Button type="submit" look="main" isDisabled={validate.isPending}>
                  {text.connect}
                </Button>
                <Button onPress={onClose}>{words.cancel}</Button>
              </div>
            </form>
          </>
        )}
      </QueryContent>
    </Dialog>
  );
}

/** The QR code is dark on light in both themes, because cameras cannot read an inverted code reliably. */
function QrCode({ content }: { content: string }) {
  const { size, path } = useMemo(() => {
    const { data } = encode(content, { border: 2 });
    const dots = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { size: data.length, path: dots.join('') };
  }, [content]);
  return (
    <svg className="settings-qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={text.qrCode} data-secret="">
      <path d={path} />
    </svg>
  );
}

function Passkeys({ status }: { status: Status }) {
  const list = useQuery({
    queryKey: passkeysKey,
    queryFn: ({ signal }) => call<Passkey[]>({ path: credentials }, signal),
  });
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Passkey | null>(null);
  const count = useMutation({
    mutationFn: (isRequired: boolean) =>
      callWithRecentSignIn({ method: 'PATCH', path: own, body: { passkeys_enabled_for_2fa: isRequired } }),
    onSettled: refresh,
  });
  return (
    <SettingsBlock
      title={text.passkeys}
      about={text.passkeysText}
      buttons={supportsPasskeys() && <Button onPress={() => setAdding(true)}>{text.addPasskey}</Button>}
    >
      <QueryContent query={list} what={text.passkeys}>
        {(passkeys) => <PasskeyTable passkeys={passkeys} onRemove={setLeaving} />}
      </QueryContent>
      {status.has_passkeys && (
        <label className="settings-choice">
          <input
            type="checkbox"
            checked={count.isPending ? count.variables : status.passkeys_enabled_for_2fa}
            disabled={count.isPending}
            onChange={(event) => count.mutate(event.target.checked)}
          />
          {text.passkeysCount}
        </label>
      )}
      <FormProblem problem={count.error} fields={[]} />
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {leaving && (
        <ConfirmationDialog
          title={text.removePasskeyTitle(leaving.label)}
          verb={text.remove}
          onClose={() => setLeaving(null)}
          act={async () => {
            await callWithRecentSignIn({ method: 'DELETE', path: `${credentials}/${leaving.id}` });
            await refresh();
          }}
        >
          {text.removePasskeyText}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}

function PasskeyTable({ passkeys, onRemove }: { passkeys: Passkey[]; onRemove: (passkey: Passkey) => void }) {
  if (passkeys.length === 0) return <p className="quiet">{text.noPasskeys}</p>;
  return (
    <table className="table settings-table">
      <thead>
        <tr>
          <th>{text.name}</th>
          <th>{text.columns.made}</th>
          <th>{text.columns.used}</th>
          <th>
            <span className="only-heard">{text.columns.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {passkeys.map((passkey) => (
          <tr key={passkey.id}>
            <td>{passkey.label}</td>
            <td data-label={text.columns.made}>{formatAgo(passkey.created_at)}</td>
            <td data-label={text.columns.used}>
              {passkey.last_used_at ? formatAgo(passkey.last_used_at) : text.neverUsed}
            </td>
            <td className="settings-actions">
              <Button aria-label={text.removePasskey(passkey.label)} onPress={() => onRemove(passkey)}>
                {text.remove}
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const add = useMutation({
    mutationFn: async (label: string) => {
      const options = await callWithRecentSignIn({ method: 'POST', path: '/api/webauthn/register/begin' });
      const credential = await createPasskey(options);
      await callWithRecentSignIn({
        method: 'POST',
        path: '/api/webauthn/register/complete',
        body: { credential, label },
      });
    },
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  });
  return (
    <Dialog title={text.addPasskey} onClose={onClose}>
      <p className="quiet">{text.addPasskeyText(location.hostname)}</p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(String(new FormData(event.currentTarget).get('label')));
        }}
      >
        <Field
          name="label"
          label={text.name}
          autoComplete="off"
          autoFocus
          maxLength={200}
          defaultValue={text.passkeyName}
          problem={add.error}
        />
        <FormProblem problem={add.error} fields={['label']} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={add.isPending}>
            {text.addPasskey}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
