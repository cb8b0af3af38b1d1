// The dialog for choosing who can see and edit an insight, dashboard, cohort or flag.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call } from '../api/request.ts';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { useProject } from '../frame/project.ts';
import { Button } from '../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../parts/dialog.tsx';
import { FormProblem } from '../parts/form.tsx';
import { QueryContent } from '../parts/states.tsx';
import { words } from '../words.ts';
import { MissingPlanNote } from './missing-plan-note.tsx';
import { text } from './words.ts';
import './access.css';

const levels = ['none', 'viewer', 'editor', 'manager'] as const;
type Level = (typeof levels)[number];

interface Rules {
  access_controls: { access_level: Level; organization_member: string | null; role: string | null }[];
  default_access_level: Level;
  user_can_edit_access_levels: boolean;
}

interface People {
  roles: { id: string; name: string }[];
  members: { id: string; user: { first_name: string; last_name: string; email: string } }[];
  /** Total number of members, including members who are not in this list. */
  count: number;
}

/** The subject of an access rule: a member, a role, or all members. */
interface AccessSubject {
  organization_member: string | null;
  role: string | null;
}

const everyMember: AccessSubject = { organization_member: null, role: null };
const isSame = (a: AccessSubject, b: AccessSubject) =>
  a.organization_member === b.organization_member && a.role === b.role;
const maxMembers = 200;

export function RecordAccessDialog({ path, name, onClose }: { path: string; name: string; onClose: () => void }) {
  const { id, organization } = useProject();
  const request = { path: `/api/projects/${id}/${path}/access_controls` };
  const rules = useQuery({
    queryKey: ['access', id, path],
    queryFn: ({ signal }) => call<Rules>(request, signal),
  });
  const people = useQuery({
    queryKey: ['organization', organization, 'people'],
    queryFn: async ({ signal }): Promise<People> => {
      const base = `/api/organizations/${organization}`;
      const query = { limit: maxMembers };
      const [roles, members] = await Promise.all([
        call<{ results: People['roles'] }>({ path: `${base}/roles`, query }, signal),
        call<{ results: People['members']; count: number }>({ path: `${base}/members`, query }, signal),
      ]);
      return { roles: roles.results, members: members.results, count: members.count };
    },
  });
  return (
    <Dialog title={text.title(name)} onClose={onClose}>
      <p className="quiet">{text.about}</p>
      <MissingPlanNote>{text.noPlan}</MissingPlanNote>
      <QueryContent query={rules} what={text.what}>
        {(loaded) => (
          <QueryContent query={people} what={text.what}>
            {(all) => <RuleList rules={loaded} people={all} request={request} queryKey={['access', id, path]} />}
          </QueryContent>
        )}
      </QueryContent>
      <div className="form-buttons">
        <AsApiCallButton request={request} />
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </Dialog>
  );
}

function RuleList({
  rules: { access_controls: all, default_access_level: usual, user_can_edit_access_levels: mayEdit },
  people,
  request,
  queryKey,
}: {
  rules: Rules;
  people: People;
  request: ApiCall;
  queryKey: readonly unknown[];
}) {
  const change = useMutation({
    mutationFn: ({ subject, level }: { subject: AccessSubject; level: Level | null }) =>
      call({
        method: 'PUT',
        ...request,
        body: {
          access_level: level,
          ...(subject.organization_member !== null && { organization_member: subject.organization_member }),
          ...(subject.role !== null && { role: subject.role }),
        },
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  const single = all.filter((rule) => !isSame(rule, everyMember));
  const rows: AccessSubject[] = [everyMember, ...single];
  return (
    <>
      {!mayEdit && <p className="hint">{text.onlyManagers}</p>}
      <ul className="access-rules" aria-label={text.list}>
        {rows.map((subject) => {
          const name = nameOf(subject, people);
          const level = all.find((rule) => isSame(rule, subject))?.access_level ?? '';
          return (
            <li key={`${subject.role} ${subject.organization_member}`} className="access-rule">
              <span className="cut">{escapeInvisible(name)}</span>
              <LevelChoice
                label={text.levelLabel(name)}
                level={level}
                none={isSame(subject, everyMember) ? text.asKind(text.levels[usual]) : text.levels['']}
                isDisabled={!mayEdit || change.isPending}
                onLevel={(next) => change.mutate({ subject, level: next || null })}
              />
            </li>
          );
        })}
      </ul>
      {mayEdit && (
        <AddRule
          people={people}
          taken={single}
          isPending={change.isPending}
          onAdd={(subject, level) => change.mutate({ subject, level })}
        />
      )}
      <FormProblem problem={change.error} fields={[]} />
    </>
  );
}

function AddRule({
  people: { roles, members, count },
  taken,
  isPending,
  onAdd,
}: {
  people: People;
  taken: readonly AccessSubject[];
  isPending: boolean;
  onAdd: (subject: AccessSubject, level: Level) => void;
}) {
  const [chosen, setChosen] = useState('');
  const [level, setLevel] = useState<Level>('viewer');
  const isFree = (subject: AccessSubject) => !taken.some((one) => isSame(one, subject));
  const freeRoles = roles.filter(({ id }) => isFree({ ...everyMember, role: id }));
  const freeMembers = members.filter(({ id }) => isFree({ ...everyMember, organization_member: id }));
  return (
    <form
      className="form"
      aria-label={text.adding}
      onSubmit={(event) => {
        event.preventDefault();
        const isRole = roles.some(({ id }) => id === chosen);
        onAdd({ ...everyMember, [isRole ? 'role' : 'organization_member']: chosen }, level);
        setChosen('');
      }}
    >
      <div className="access-rule">
        <select
          className="input"
          aria-label={text.roleOrMember}
          value={chosen}
          onChange={({ target }) => setChosen(target.value)}
        >
          <option value="">{text.choose}</option>
          <optgroup label={text.roles}>
            {freeRoles.map(({ id, name }) => (
              <option key={id} value={id}>
                {escapeInvisible(name)}
              </option>
            ))}
          </optgroup>
          <optgroup label={text.members}>
            {freeMembers.map((member) => (
              <option key={member.id} value={member.id}>
                {escapeInvisible(nameOfMember(member))}
              </option>
            ))}
          </optgroup>
        </select>
        <LevelChoice
          label={text.levelLabel(text.roleOrMember)}
          level={level}
          onLevel={(next) => next !== '' && setLevel(next)}
        />
        <Button type="submit" isDisabled={chosen === '' || isPending}>
          {text.add}
        </Button>
      </div>
      {count > members.length && <p className="hint">{text.someMembers(String(members.length))}</p>}
    </form>
  );
}

/**
 * A field for choosing an access level.
 * @param none the label of the option "no rule"; if undefined, users cannot choose it
 */
function LevelChoice({
  label,
  level,
  none,
  isDisabled = false,
  onLevel,
}: {
  label: string;
  level: Level | '';
  none?: string;
  isDisabled?: boolean;
  onLevel: (level: Level | '') => void;
}) {
  return (
    <select
      className="input"
      aria-label={label}
      value={level}
      disabled={isDisabled}
      onChange={({ target }) => onLevel(target.value as Level | '')}
    >
      {none !== undefined && <option value="">{none}</option>}
      {levels.map((one) => (
        <option key={one} value={one}>
          {text.levels[one]}
        </option>
      ))}
    </select>
  );
}

function nameOfMember({ user }: People['members'][number]): string {
  const name = `${user.first_name} ${user.last_name}`.trim();
  return name === '' ? user.email : `${name} (${user.email})`;
}

function nameOf({ role, organization_member: id }: AccessSubject, { roles, members }: People): string {
  if (role !== null) return text.role(roles.find((one) => one.id === role)?.name ?? '');
  if (id === null) return text.everyMember;
  const member = members.find((one) => one.id === id);
  return member === undefined ? text.unknownMember : nameOfMember(member);
}
