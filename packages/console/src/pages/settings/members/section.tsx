// The settings section where users manage the organization's members, invites, membership levels and roles.

import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { consolePath } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { part, useUrlState } from '../../../parts/address.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCallButton } from '../../../parts/dialog.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { Search } from '../../../parts/search.tsx';
import { EmptyState, QueryContent } from '../../../parts/states.tsx';
import { formatDay } from '../../../parts/time.ts';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { administrator, levels, useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { Invites } from './invites.tsx';
import { RoleList } from './roles.tsx';
import { text } from './words.ts';

interface Member {
  id: string;
  user: { uuid: string; first_name: string; last_name: string; email: string };
  level: number;
  joined_at: string;
  is_2fa_enabled: boolean;
  last_login: string | null;
}

const parts = { search: part.text(), open: part.oneOf(['', 'invite'], '') };
const owner = 15;
const nameOf = ({ user }: Member) => `${user.first_name} ${user.last_name}`.trim() || user.email;

export function MembersSection() {
  const { view, change, unknown } = useUrlState(parts);
  const organization = useOrganization();
  const request = { path: `${organization.path}/members`, query: { search: view.search } };
  const query = useOffsetPages<Member>(['organization', organization.id, 'members'], request);
  return (
    <>
      <AddressHint unknown={unknown} />
      <Invites isInviting={view.open === 'invite'} onInviting={(open) => change({ open: open ? 'invite' : '' })} />
      <SettingsBlock
        title={text.title}
        about={
          <>
            {text.about(organization.name)} {organization.level < administrator && text.onlyAdministrators}
          </>
        }
        buttons={<AsApiCallButton request={request} about={text.title} />}
      >
        <Search value={view.search} label={text.search} onSearch={(search) => change({ search }, { replace: true })} />
        <QueryContent query={query} what={text.title}>
          {({ rows }) =>
            rows.length > 0 ? (
              <>
                <MemberTable members={rows} />
                <LoadMoreButton query={query} />
              </>
            ) : (
              <EmptyState title={text.noMatchTitle} icon="persons">
                <p className="quiet">{text.noMatch}</p>
                <div className="form-buttons">
                  <Button onPress={() => change({ search: '' })}>{text.showAll}</Button>
                </div>
              </EmptyState>
            )
          }
        </QueryContent>
      </SettingsBlock>
      <RoleList />
    </>
  );
}

type PendingAction = { kind: 'level'; member: Member; level: number } | { kind: 'remove'; member: Member };

function MemberTable({ members }: { members: readonly Member[] }) {
  const { timezone } = useProject();
  const { userUuid, level: own } = useOrganization();
  const [pendingAction, setPendingAction] = useState<PendingAction | null>(null);
  return (
    <>
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{text.columns.member}</th>
            <th>{text.columns.level}</th>
            <th>{text.columns.factor}</th>
            <th className="settings-wide">{text.columns.joined}</th>
            <th>{text.columns.seen}</th>
            <th>
              <span className="only-heard">{text.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => {
            const isSelf = member.user.uuid === userUuid;
            return (
              <tr key={member.id}>
                <td className="members-who">
                  <strong>{nameOf(member)}</strong> {isSelf && <span className="pill">{text.you}</span>}
                  <br />
                  <span className="quiet">{member.user.email}</span>
                </td>
                <td className="members-level">
                  <Level
                    member={member}
                    own={own}
                    isSelf={isSelf}
                    onChange={(level) => setPendingAction({ kind: 'level', member, level })}
                  />
                </td>
                <td data-label={text.columns.factor}>{text.factor[String(member.is_2fa_enabled)]}</td>
                <td className="settings-wide members-short">{formatDay(member.joined_at, timezone)}</td>
                <td data-label={text.columns.seen}>
                  {member.last_login === null ? text.never : formatAgo(member.last_login)}
                </td>
                <td className="settings-actions">
                  <RemoveMemberButton
                    member={member}
                    own={own}
                    isSelf={isSelf}
                    onRemove={() => setPendingAction({ kind: 'remove', member })}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {pendingAction?.kind === 'level' && <ChangeLevel {...pendingAction} onClose={() => setPendingAction(null)} />}
      {pendingAction?.kind === 'remove' && (
        <RemoveMember member={pendingAction.member} onClose={() => setPendingAction(null)} />
      )}
    </>
  );
}

interface MemberActionProps {
  member: Member;
  own: number;
  isSelf: boolean;
}

/** A menu of membership levels, or the level and the reason why the current user cannot change it. */
function Level({ member, own, isSelf, onChange }: MemberActionProps & { onChange: (level: number) => void }) {
  if (isSelf || own < administrator || member.level > own) {
    const isAbove = own >= administrator && member.level > own;
    return (
      <>
        {text.levels[member.level] ?? member.level}
        {(isSelf || isAbove) && <span className="hint members-why">{isSelf ? text.ownLevel : text.aboveLevel}</span>}
      </>
    );
  }
  return (
    <select
      className="input"
      aria-label={text.levelOf(nameOf(member))}
      value={member.level}
      onChange={({ target }) => onChange(Number(target.value))}
    >
      {levels
        .filter((level) => level <= own)
        .map((level) => (
          <option key={level} value={level}>
            {text.levels[level]}
          </option>
        ))}
    </select>
  );
}

/**
 * A button for removing a member or leaving the organization. All members except owners may leave. Administrators may
 * remove members whose level is not above their own.
 */
function RemoveMemberButton({ member, own, isSelf, onRemove }: MemberActionProps & { onRemove: () => void }) {
  if (!isSelf && (own < administrator || member.level > own)) return null;
  if (member.level === owner)
    return <span className="hint members-why">{isSelf ? text.ownerLeaves : text.ownerRemoved}</span>;
  return (
    <Button look="danger" aria-label={isSelf ? text.leave : text.removeWhom(nameOf(member))} onPress={onRemove}>
      {isSelf ? text.leave : text.remove}
    </Button>
  );
}

function ChangeLevel({ member, level, onClose }: { member: Member; level: number; onClose: () => void }) {
  const organization = useOrganization();
  return (
    <ConfirmationDialog
      title={text.changeTitle(nameOf(member), level)}
      verb={text.change}
      onClose={onClose}
      act={async () => {
        const path = `${organization.path}/members/${member.user.uuid}`;
        await callWithRecentSignIn({ method: 'PATCH', path, body: { level } });
        // Lowering a member's level may cancel invites that the member has sent, so reload the invites too.
        await queryClient.invalidateQueries({ queryKey: ['organization', organization.id] });
      }}
    >
      {text.changeText[level]} {level < member.level && text.fewerInvites}
    </ConfirmationDialog>
  );
}

function RemoveMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const organization = useOrganization();
  const isSelf = member.user.uuid === organization.userUuid;
  return (
    <ConfirmationDialog
      title={isSelf ? text.leaveTitle(organization.name) : text.removeTitle(nameOf(member), organization.name)}
      verb={isSelf ? text.leave : text.remove}
      onClose={onClose}
      act={async () => {
        await callWithRecentSignIn({ method: 'DELETE', path: `${organization.path}/members/${member.user.uuid}` });
        if (isSelf) location.assign(consolePath);
        else await queryClient.invalidateQueries({ queryKey: ['organization', organization.id] });
      }}
    >
      {isSelf ? text.leaveText : text.removeText}
    </ConfirmationDialog>
  );
}
