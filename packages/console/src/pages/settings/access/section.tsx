// The settings section where administrators choose which members and roles have access to the project.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { MissingPlanNote } from '../../../access/missing-plan-note.tsx';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { useUrlState } from '../../../parts/address.ts';
import { AsApiCallButton } from '../../../parts/dialog.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { EmptyState, QueryContent } from '../../../parts/states.tsx';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { administrator, useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { RecordAccess, type Role } from './records.tsx';
import { text } from './words.ts';

const rules = ['', 'member', 'admin', 'none'] as const;
/** The level of an access rule, or an empty string if no rule exists. */
type Rule = (typeof rules)[number];
const choices = ['', 'none', 'member', 'admin'] as const;

interface AccessRules {
  access_controls: { access_level: Exclude<Rule, ''>; organization_member: string | null; role: string | null }[];
  user_can_edit_access_levels: boolean;
}
interface Member {
  id: string;
  user: { uuid: string; first_name: string; last_name: string; email: string };
  level: number;
}

/** The member or role that an access rule applies to. Null if it applies to everyone. */
type RuleSubject = { member: string } | { role: string } | null;

const ruleFor = ({ access_controls: all }: AccessRules, subject: RuleSubject): Rule => {
  const key = { member: null, role: null, ...subject };
  const found = all.find(({ organization_member: member, role }) => member === key.member && role === key.role);
  return found?.access_level ?? '';
};

export function AccessSection() {
  const { unknown } = useUrlState({});
  const { id } = useProject();
  const organization = useOrganization();
  const request = { path: `/api/projects/${id}/access_controls` };
  const roles = useOffsetPages<Role>(['organization', organization.id, 'roles'], {
    path: `${organization.path}/roles`,
  });
  const query = useQuery({
    queryKey: ['access', id],
    queryFn: ({ signal }) => call<AccessRules>(request, signal),
  });
  return (
    <>
      <AddressHint unknown={unknown} />
      <QueryContent query={query} what={text.title}>
        {(access) => (
          <>
            <SettingsBlock
              title={text.title}
              about={
                <>
                  {text.about} {!access.user_can_edit_access_levels && text.onlyAdministrators}
                </>
              }
              buttons={<AsApiCallButton request={request} />}
            >
              <MissingPlanNote>{text.noPlan}</MissingPlanNote>
              <ForEverybody access={access} />
            </SettingsBlock>
            <ForRoles access={access} roles={roles} />
            <ForMembers access={access} />
            <RecordAccess roles={roles.data?.rows ?? []} />
          </>
        )}
      </QueryContent>
    </>
  );
}

function useRuleChange() {
  const { id } = useProject();
  return useMutation({
    mutationFn: ({ rule, subject }: { rule: Rule; subject: RuleSubject }) =>
      callWithRecentSignIn({
        method: 'PUT',
        path: `/api/projects/${id}/access_controls`,
        body: {
          access_level: rule === '' ? null : rule,
          ...(subject !== null &&
            ('member' in subject ? { organization_member: subject.member } : { role: subject.role })),
        },
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['access', id] }),
  });
}

function ForEverybody({ access }: { access: AccessRules }) {
  const { name } = useProject();
  const [newRule, setNewRule] = useState<Rule | null>(null);
  const change = useRuleChange();
  const present = ruleFor(access, null);
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{text.everyMember}</legend>
      <div className="settings-presets">
        {rules.map((rule) => (
          <label key={rule} className="settings-preset">
            <input
              type="radio"
              name="everybody"
              checked={present === rule}
              disabled={!access.user_can_edit_access_levels}
              onChange={() => setNewRule(rule)}
            />
            <span>
              <strong>{text.rules[rule].name}</strong>
              <span className="hint">{text.rules[rule].about}</span>
            </span>
          </label>
        ))}
      </div>
      {newRule !== null && (
        <ConfirmationDialog
          title={text.changeTitle(name)}
          verb={text.change}
          onClose={() => setNewRule(null)}
          act={() => change.mutateAsync({ rule: newRule, subject: null })}
        >
          {text.changeText(text.rules[newRule].name)}
        </ConfirmationDialog>
      )}
    </fieldset>
  );
}

function ForRoles({ access, roles }: { access: AccessRules; roles: ReturnType<typeof useOffsetPages<Role>> }) {
  const organization = useOrganization();
  const change = useRuleChange();
  return (
    <SettingsBlock
      title={text.forRoles}
      about={text.forRolesAbout}
      buttons={<AsApiCallButton request={{ path: `${organization.path}/roles` }} about={text.forRoles} />}
    >
      <FormProblem problem={change.error} fields={[]} />
      <QueryContent query={roles} what={text.forRoles}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className="quiet">{text.noRoles}</p>
          ) : (
            <table className="table settings-table">
              <thead>
                <tr>
                  <th>{text.columnsOfRoles.role}</th>
                  <th>{text.columnsOfRoles.rule}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ id, name }) => (
                  <tr key={id}>
                    <td>
                      <strong>{name}</strong>
                    </td>
                    <td>
                      <RuleChoice
                        label={text.ruleOf(name)}
                        rule={ruleFor(access, { role: id })}
                        isDisabled={!access.user_can_edit_access_levels || change.isPending}
                        onChange={(rule) => change.mutate({ rule, subject: { role: id } })}
                      />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </QueryContent>
      <LoadMoreButton query={roles} />
    </SettingsBlock>
  );
}

function RuleChoice({
  label,
  rule,
  isDisabled,
  onChange,
}: {
  label: string;
  rule: Rule;
  isDisabled: boolean;
  onChange: (rule: Rule) => void;
}) {
  return (
    <select
      className="input settings-short"
      aria-label={label}
      value={rule}
      disabled={isDisabled}
      onChange={({ target }) => onChange(target.value as Rule)}
    >
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {text.choices[choice]}
        </option>
      ))}
    </select>
  );
}

function ForMembers({ access }: { access: AccessRules }) {
  const organization = useOrganization();
  const request = { path: `${organization.path}/members`, query: { order: 'level' } };
  const query = useOffsetPages<Member>(['organization', organization.id, 'members'], request);
  const change = useRuleChange();
  const forAll = ruleFor(access, null);
  const hasRoleRules = access.access_controls.some(({ role }) => role !== null);
  return (
    <SettingsBlock
      title={text.single}
      about={text.singleAbout}
      buttons={<AsApiCallButton request={request} about={text.single} />}
    >
      <FormProblem problem={change.error} fields={[]} />
      <QueryContent query={query} what={text.single}>
        {({ rows }) =>
          rows.every(({ level }) => level >= administrator) ? (
            <EmptyState title={text.alone} icon="persons">
              <p className="quiet">{text.aloneText}</p>
            </EmptyState>
          ) : (
            <table className="table settings-table">
              <thead>
                <tr>
                  <th>{text.columns.member}</th>
                  <th>{text.columns.rule}</th>
                  <th>{text.columns.here}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((member) => (
                  <tr key={member.id}>
                    <td>
                      <strong>{nameOf(member)}</strong>
                      <br />
                      <span className="quiet">{member.user.email}</span>
                    </td>
                    <td>
                      {member.level >= administrator ? (
                        <span className="hint">{text.always}</span>
                      ) : (
                        <RuleChoice
                          label={text.ruleOf(nameOf(member))}
                          rule={ruleFor(access, { member: member.id })}
                          isDisabled={!access.user_can_edit_access_levels || change.isPending}
                          onChange={(rule) => change.mutate({ rule, subject: { member: member.id } })}
                        />
                      )}
                    </td>
                    <td data-label={text.columns.here}>
                      {describeAccess(member, forAll, ruleFor(access, { member: member.id }))}
                      {member.level < administrator && hasRoleRules && (
                        <>
                          <br />
                          <span className="hint">{text.besidesRoles}</span>
                        </>
                      )}
                    </td>
                  </tr>
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

const nameOf = ({ user }: Member) => `${user.first_name} ${user.last_name}`.trim() || user.email;

/**
 * Describes a member's access to the project, which follows from the rule for all members and the member's own rule
 * (docs/api/access.md#access-to-an-environment).
 */
function describeAccess({ level }: Member, forAll: Rule, own: Rule): string {
  const member = text.levels[1] ?? '';
  const admin = text.levels[8] ?? '';
  if (level >= administrator) return text.levels[level] ?? '';
  if (own === 'none' || (forAll === 'none' && own === '')) return text.noAccess;
  if (forAll === 'admin') return admin;
  return own === 'admin' && forAll !== '' ? admin : member;
}
