import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCallButton } from '../../../parts/dialog.tsx';
import { Field, FormProblem, readForm } from '../../../parts/form.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { EmptyState, QueryContent } from '../../../parts/states.tsx';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { administrator, useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from './words.ts';

interface User {
  uuid: string;
  first_name: string;
  last_name: string;
  email: string;
}
interface RoleMember {
  id: string;
  user: User;
}
interface Role {
  id: string;
  name: string;
  /** The first twenty members of the role. */
  members: RoleMember[];
}

const { roles } = text;
const maxShown = 20;
const nameOf = ({ user }: RoleMember) => `${user.first_name} ${user.last_name}`.trim() || user.email;

/** Lists the organization's roles. All members of a role have the access that its rules grant. */
export function RoleList() {
  const organization = useOrganization();
  const mayChange = organization.level >= administrator;
  const request = { path: `${organization.path}/roles` };
  const query = useOffsetPages<Role>(['organization', organization.id, 'roles'], request);
  return (
    <SettingsBlock
      title={roles.title}
      about={
        <>
          {roles.about} {!mayChange && roles.onlyAdministrators}
        </>
      }
      buttons={<AsApiCallButton request={request} about={roles.title} />}
    >
      {mayChange && <MakeRole />}
      <QueryContent query={query} what={roles.title}>
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyState title={roles.emptyTitle} icon="persons">
              <p className="quiet">{roles.empty}</p>
            </EmptyState>
          ) : (
            <table className="table settings-table">
              <thead>
                <tr>
                  <th>{roles.columns.role}</th>
                  <th>{roles.columns.members}</th>
                  <th>
                    <span className="only-heard">{text.columns.actions}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((role) => (
                  <RoleRow key={role.id} role={role} mayChange={mayChange} />
                ))}
              </tbody>
            </table>
          )
        }
      </QueryContent>
      <LoadMoreButton query={query} />
    </SettingsBlock>
  );
}

function useRoleChange<Given>(act: (given: Given) => Promise<unknown>, onDone?: () => void) {
  const { id } = useOrganization();
  return useMutation({
    mutationFn: act,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['organization', id, 'roles'] });
      onDone?.();
    },
  });
}

function MakeRole() {
  const { path } = useOrganization();
  const [round, setRound] = useState(0);
  const make = useRoleChange(
    (body: object) => callWithRecentSignIn({ method: 'POST', path: `${path}/roles`, body }),
    () => setRound((before) => before + 1),
  );
  return (
    // The React key resets the form after the user has created a role.
    <form key={round} className="form settings-form" onSubmit={(event) => make.mutate(readForm(event))}>
      <Field name="name" label={roles.name} autoComplete="off" maxLength={200} problem={make.error} />
      <FormProblem problem={make.error} fields={['name']} />
      <div className="form-buttons">
        <Button type="submit" isDisabled={make.isPending}>
          {roles.make}
        </Button>
      </div>
    </form>
  );
}

function RoleRow({ role, mayChange }: { role: Role; mayChange: boolean }) {
  const { path } = useOrganization();
  const [open, setOpen] = useState<'give' | 'rename' | 'remove' | null>(null);
  const own = `${path}/roles/${role.id}`;
  const take = useRoleChange((id: string) =>
    callWithRecentSignIn({ method: 'DELETE', path: `${own}/role_memberships/${id}` }),
  );
  const close = () => setOpen(null);
  return (
    <tr>
      <td>
        <strong>{role.name}</strong>
      </td>
      <td>
        {role.members.length === 0 && <span className="hint">{roles.noMembers}</span>}
        <ul className="members-roles">
          {role.members.map((member) => (
            <li key={member.id}>
              <span title={member.user.email}>{nameOf(member)}</span>
              {mayChange && (
                <Button
                  look="plain"
                  aria-label={roles.takeFrom(role.name, nameOf(member))}
                  isDisabled={take.isPending}
                  onPress={() => take.mutate(member.id)}
                >
                  {roles.take}
                </Button>
              )}
            </li>
          ))}
        </ul>
        {role.members.length === maxShown && <span className="hint">{roles.more}</span>}
        <FormProblem problem={take.error} fields={[]} />
        {open === 'give' && <GiveRole role={role} path={own} onDone={close} />}
        {open === 'rename' && <RenameRole role={role} path={own} onDone={close} />}
      </td>
      <td className="settings-actions">
        {mayChange && (
          <>
            <Button look="plain" aria-label={roles.giveOf(role.name)} onPress={() => setOpen('give')}>
              {roles.give}
            </Button>
            <Button look="plain" aria-label={roles.renameOf(role.name)} onPress={() => setOpen('rename')}>
              {roles.rename}
            </Button>
            <Button look="plain" aria-label={roles.removeOf(role.name)} onPress={() => setOpen('remove')}>
              {roles.remove}
            </Button>
          </>
        )}
        {open === 'remove' && <RemoveRole role={role} path={own} onClose={close} />}
      </td>
    </tr>
  );
}

interface RoleForm {
  role: Role;
  path: string;
  onDone: () => void;
}

/**
 * A form that adds members to a role by email address. It does not list members, because an organization may have too
 * many.
 */
function GiveRole({ role, path, onDone }: RoleForm) {
  const organization = useOrganization();
  const [unknown, setUnknown] = useState<string | null>(null);
  const give = useRoleChange(async (email: string) => {
    const members = await call<{ results: { user: User }[] }>({
      path: `${organization.path}/members`,
      query: { email },
    });
    const user = members.results[0]?.user;
    setUnknown(user ? null : email);
    if (!user) return;
    await callWithRecentSignIn({ method: 'POST', path: `${path}/role_memberships`, body: { user_uuid: user.uuid } });
    onDone();
  });
  return (
    <form
      className="form settings-form"
      aria-label={roles.giveOf(role.name)}
      onSubmit={(event) => give.mutate((readForm(event) as { email: string }).email.trim())}
    >
      <Field
        name="email"
        type="email"
        label={roles.address}
        hint={unknown === null ? roles.addressHint : undefined}
        autoComplete="off"
        autoFocus
      />
      {unknown !== null && (
        <p className="bad" role="alert">
          {roles.unknown(unknown)}
        </p>
      )}
      <FormProblem problem={give.error} fields={[]} />
      <div className="form-buttons">
        <Button type="submit" isDisabled={give.isPending}>
          {roles.give}
        </Button>
        <Button onPress={onDone}>{roles.cancel}</Button>
      </div>
    </form>
  );
}

function RenameRole({ role, path, onDone }: RoleForm) {
  const rename = useRoleChange((body: object) => callWithRecentSignIn({ method: 'PATCH', path, body }), onDone);
  return (
    <form className="form settings-form" onSubmit={(event) => rename.mutate(readForm(event))}>
      <Field
        name="name"
        label={roles.name}
        autoComplete="off"
        autoFocus
        maxLength={200}
        defaultValue={role.name}
        problem={rename.error}
      />
      <FormProblem problem={rename.error} fields={['name']} />
      <div className="form-buttons">
        <Button type="submit" isDisabled={rename.isPending}>
          {roles.rename}
        </Button>
        <Button onPress={onDone}>{roles.cancel}</Button>
      </div>
    </form>
  );
}

function RemoveRole({ role, path, onClose }: { role: Role; path: string; onClose: () => void }) {
  const remove = useRoleChange(() => callWithRecentSignIn({ method: 'DELETE', path }));
  return (
    <ConfirmationDialog
      title={roles.removeTitle(role.name)}
      verb={roles.remove}
      onClose={onClose}
      act={() => remove.mutateAsync(undefined)}
    >
      {roles.removeText}
    </ConfirmationDialog>
  );
}
