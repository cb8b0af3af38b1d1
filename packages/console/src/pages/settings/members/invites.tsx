import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { consolePath, sendsMail } from '../../../api/request.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button, CopyButton } from '../../../parts/button.tsx';
import { AsApiCallButton } from '../../../parts/dialog.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { EmptyState, QueryContent } from '../../../parts/states.tsx';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { takeFocus } from '../lists.tsx';
import { useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { type CreatedInvite, type Invite, InviteForm } from './invite-form.tsx';
import { text } from './words.ts';
import './members.css';

/** The invite form, the pending invites, and the links of new invites. */
export function Invites({ isInviting, onInviting }: { isInviting: boolean; onInviting: (isOpen: boolean) => void }) {
  const organization = useOrganization();
  const [newInvites, setNewInvites] = useState<CreatedInvite[]>([]);
  const [round, setRound] = useState(0);
  const request = { path: `${organization.path}/invites` };
  const query = useOffsetPages<Invite>(['organization', organization.id, 'invites'], request);
  const close = () => {
    setRound(round + 1);
    onInviting(false);
  };
  const show = async (invites: CreatedInvite[]) => {
    setNewInvites(invites);
    await queryClient.invalidateQueries({ queryKey: ['organization', organization.id, 'invites'] });
  };
  const finish = (invites: CreatedInvite[]) => {
    close();
    return show(invites);
  };
  return (
    <>
      {newInvites.length > 0 && <InviteLinks invites={newInvites} onDone={() => setNewInvites([])} />}
      <InviteForm key={round} isShort={!isInviting} onMore={() => onInviting(true)} onDone={finish} onClose={close} />
      <SettingsBlock
        title={text.invites.title}
        about={text.invites.about}
        buttons={<AsApiCallButton request={request} about={text.invites.title} />}
      >
        <QueryContent query={query} what={text.invites.title}>
          {({ rows }) =>
            rows.length > 0 ? (
              <>
                <InviteTable invites={rows} onSent={(invite) => show([invite])} />
                <LoadMoreButton query={query} />
              </>
            ) : (
              <EmptyState title={text.invites.emptyTitle} icon="persons">
                <p className="quiet">{text.invites.empty(sendsMail())}</p>
              </EmptyState>
            )
          }
        </QueryContent>
      </SettingsBlock>
    </>
  );
}

/** Shows the links and email addresses of new invites once. The page does not store them. */
function InviteLinks({ invites, onDone }: { invites: readonly CreatedInvite[]; onDone: () => void }) {
  const title = text.made.title(invites.length);
  return (
    <section className="panel settings-block settings-secret" aria-label={title} tabIndex={-1} ref={takeFocus}>
      <h2>{title}</h2>
      <p className="quiet">{invites.some(({ token }) => token !== undefined) ? text.made.text : text.made.noLinks}</p>
      <ul className="members-links">
        {invites.map((invite) => (
          <li key={invite.id}>
            <p>
              <strong>{invite.target_email}</strong>{' '}
              <span className={invite.mail_error === undefined ? 'hint' : 'bad'}>{mailOf(invite)}</span>
            </p>
            {invite.token !== undefined && (
              <MadeLink email={invite.target_email} link={linkOf(invite.id, invite.token)} />
            )}
          </li>
        ))}
      </ul>
      <div className="form-buttons">
        <Button onPress={onDone}>{text.made.done}</Button>
      </div>
    </section>
  );
}

function mailOf({ mail_error: error, emailing_attempt_made: isTried }: Invite): string {
  if (error !== undefined) return text.invites.errors(error);
  return isTried ? text.made.mailed : text.made.unmailed;
}

/** The secret is in the URL fragment, so that it does not appear in server logs. */
const linkOf = (id: string, token: string) => `${location.origin}${consolePath}invite/${id}#${token}`;

function MadeLink({ email, link }: { email: string; link: string }) {
  return (
    <div className="members-link">
      <input
        className="input mono"
        readOnly
        aria-label={text.made.linkOf(email)}
        value={link}
        data-secret=""
        onFocus={({ target }) => target.select()}
      />
      <CopyButton text={link} />
    </div>
  );
}

function InviteTable({
  invites,
  onSent,
}: {
  invites: readonly Invite[];
  onSent: (invite: CreatedInvite) => Promise<void>;
}) {
  const organization = useOrganization();
  const [leaving, setLeaving] = useState<Invite | null>(null);
  const send = useMutation({
    mutationFn: (invite: Invite) =>
      callWithRecentSignIn<CreatedInvite>({
        method: 'POST',
        path: `${organization.path}/invites`,
        body: sameAs(invite),
      }),
    onSuccess: onSent,
  });
  return (
    <>
      <FormProblem problem={send.error} fields={[]} />
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{text.columns.address}</th>
            <th>{text.columns.level}</th>
            <th>{text.columns.state}</th>
            <th>{text.columns.invited}</th>
            <th>
              <span className="only-heard">{text.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {invites.map((invite) => (
            <tr key={invite.id}>
              <td>
                <strong>{invite.target_email}</strong>
                {invite.first_name !== '' && <div className="quiet">{invite.first_name}</div>}
              </td>
              <td data-label={text.columns.level}>{text.levels[invite.level] ?? invite.level}</td>
              <td>
                <State of={invite} />
              </td>
              <td data-label={text.columns.invited}>
                {formatAgo(invite.created_at)}{' '}
                {invite.created_by && (
                  <span className="quiet">
                    {text.invites.byWhom(invite.created_by.first_name || invite.created_by.email)}
                  </span>
                )}
              </td>
              <td className="settings-actions">
                {invite.level <= organization.level ? (
                  <Button
                    aria-label={text.invites.againTo(invite.target_email)}
                    isDisabled={send.isPending}
                    onPress={() => send.mutate(invite)}
                  >
                    {text.invites.again}
                  </Button>
                ) : (
                  <span className="hint">{text.invites.againAbove}</span>
                )}
                <Button
                  look="danger"
                  aria-label={text.invites.takeBackFrom(invite.target_email)}
                  onPress={() => setLeaving(invite)}
                >
                  {text.invites.takeBack}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {leaving && (
        <ConfirmationDialog
          title={text.invites.takeBackTitle(leaving.target_email)}
          verb={text.invites.takeBack}
          onClose={() => setLeaving(null)}
          act={async () => {
            await callWithRecentSignIn({ method: 'DELETE', path: `${organization.path}/invites/${leaving.id}` });
            await queryClient.invalidateQueries({ queryKey: ['organization', organization.id, 'invites'] });
          }}
        >
          {text.invites.takeBackText}
        </ConfirmationDialog>
      )}
    </>
  );
}

/**
 * Returns a request body that replaces an invite with a new one, which has a new link. With `combine_pending_invites`,
 * the API preserves access to projects that the caller cannot see.
 */
const sameAs = ({ target_email, first_name, level, message, private_project_access }: Invite) => ({
  target_email,
  first_name,
  level,
  message,
  private_project_access,
  send_email: true,
  combine_pending_invites: true,
});

function State({ of: invite }: { of: Invite }) {
  const { states } = text.invites;
  const [look, name, why] = invite.is_expired
    ? ['pill-warn', states.expired, text.invites.expired]
    : invite.mail_error !== undefined
      ? ['pill-bad', states.failed, text.invites.errors(invite.mail_error)]
      : invite.emailing_attempt_made
        ? ['pill-good', states.mailed, '']
        : invite.send_email
          ? ['', states.unmailed, sendsMail() ? text.invites.notYet : text.invites.noMailHere]
          : ['', states.link, ''];
  return (
    <>
      <span className={`pill ${look}`}>{name}</span>
      {why && <div className="hint">{why}</div>}
    </>
  );
}
