// The settings section where administrators rename, configure, delete and create organizations.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/request.ts';
import { useHasLevelInOrganization, useProject } from '../../../frame/project.ts';
import { part, useUrlState } from '../../../parts/address.ts';
import { Button } from '../../../parts/button.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatCount, words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { MakeDialog } from '../make-dialog.tsx';
import { NameForm } from '../name-form.tsx';
import { useRecordRemoval } from '../removal.ts';
import { text as shared } from '../words.ts';
import { type Organization, OrganizationSwitches, refreshOrganization, type SwitchName } from './switches.tsx';
import { text } from './words.ts';

const groups: readonly { title: string; names: readonly SwitchName[] }[] = [
  { title: text.mails, names: ['is_member_join_email_enabled'] },
  { title: text.members, names: ['members_can_invite', 'members_can_use_personal_api_keys'] },
  { title: text.privacy, names: ['default_anonymize_ips', 'allow_publicly_shared_resources'] },
];

const parts = { new: part.flag() };

export function OrganizationSection() {
  const { view, change, unknown } = useUrlState(parts);
  const { organization: id } = useProject();
  const path = `/api/organizations/${id}`;
  const isAdministrator = useHasLevelInOrganization(8);
  const query = useQuery({
    queryKey: ['settings', 'organization', id],
    queryFn: ({ signal }) => call<Organization>({ path }, signal),
  });
  return (
    <>
      <AddressHint unknown={unknown} />
      <QueryContent query={query} what={words.sections.organization}>
        {(organization) => (
          <>
            <NameForm
              title={shared.name}
              about={text.nameText}
              name={organization.name}
              path={path}
              maxLength={64}
              reason={isAdministrator ? undefined : shared.needsAdministrator}
              onSaved={refreshOrganization}
            />
            {groups.map(({ title, names }) => (
              <OrganizationSwitches
                key={title}
                title={title}
                names={names}
                organization={organization}
                path={path}
                mayChange={isAdministrator}
              />
            ))}
            <SettingsBlock
              title={text.another}
              about={text.anotherText}
              request={{ path: '/api/organizations' }}
              buttons={<Button onPress={() => change({ new: true })}>{text.newOrganization}</Button>}
            />
            <DeleteOrganizationBlock organization={organization} path={path} />
          </>
        )}
      </QueryContent>
      {view.new && (
        <MakeDialog
          title={text.newOrganization}
          about={text.newOrganizationText}
          path="/api/organizations"
          maxLength={64}
          onClose={() => change({ new: false }, { replace: true })}
        />
      )}
    </>
  );
}

function DeleteOrganizationBlock({
  organization: { name, projects },
  path,
}: {
  organization: Organization;
  path: string;
}) {
  const mayRemove = useHasLevelInOrganization(15);
  const [isConfirming, setConfirming] = useState(false);
  const remove = useRecordRemoval();
  return (
    <SettingsBlock title={text.remove} about={text.removeText} request={{ method: 'DELETE', path }}>
      <div className="form-buttons">
        <Button look="danger" isDisabled={!mayRemove} onPress={() => setConfirming(true)}>
          {text.removeOrganization}
        </Button>
      </div>
      {!mayRemove && <p className="hint">{text.needsOwner}</p>}
      {isConfirming && (
        <ConfirmationDialog
          title={text.removeTitle(name)}
          verb={text.removeOrganization}
          typed={{ label: text.typeName, text: name }}
          onClose={() => setConfirming(false)}
          act={() => remove(path)}
        >
          {text.removeWhat(formatCount(projects.length, 'project'))}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}
